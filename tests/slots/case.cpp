// Runs a case, and says what it must come to without any slot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "calls.h"

namespace thinwire::slots {
namespace {

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

Bytes part(const Bytes& whole, std::uint64_t first, std::uint64_t bytes) {
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

// As spec/slot.md has it.
std::uint64_t slot_bytes(std::uint64_t raw_bytes, std::uint32_t capacity) {
  const std::uint64_t bytes = (raw_bytes * capacity + 511) / 512;
  return std::max<std::uint64_t>(512, (bytes + 511) / 512 * 512);
}

class Expected {
 public:
  Expected(const Case& given, const std::vector<Bytes>& sent)
      : case_(given), sent_(sent), codec_(given.spec) {}

  Bytes of(int rank) const {
    const std::uint64_t whole = bytes(case_.count);
    switch (case_.operation) {
      case TW_STREAM_ALLGATHER:
        return gathered(rank);
      case TW_STREAM_BCAST:
        return rank == case_.root && case_.in_place ? sent_[index(rank)]
                                                    : through(sent_[index(case_.root)], whole);
      case TW_STREAM_RECEIVE:
        return through(sent_[0], whole);
      case TW_STREAM_REDUCE_SCATTER:
        return block_sum(rank, whole * index(rank), whole, slot_bytes(whole, case_.capacity));
      default:
        return direct() ? direct_sum() : gathered_sum();
    }
  }

 private:
  std::uint64_t bytes(std::uint64_t count) const { return count * value_bytes(case_.dtype); }
  Bytes through(const Bytes& values, std::uint64_t longest) const {
    if (case_.ranks == 1) return values;
    return through_slot(codec_, case_.dtype, values, slot_bytes(longest, case_.capacity));
  }
  bool direct() const {
    if (case_.way != TW_STREAM_PLANNED) return case_.way == TW_STREAM_DIRECT && case_.ranks > 1;
    return case_.ranks > 2 && bytes(case_.count) > 64 * 1024;
  }

  Bytes gathered(int rank) const {
    Bytes all;
    for (int from = 0; from < case_.ranks; ++from) {
      const Bytes& own = sent_[index(from)];
      const Bytes came = from == rank && case_.in_place ? own : through(own, own.size());
      all.insert(all.end(), came.begin(), came.end());
    }
    return all;
  }

  Bytes gathered_sum() const {
    std::vector<Bytes> arrays;
    for (const Bytes& own : sent_) arrays.push_back(through(own, own.size()));
    return sum_of(case_.dtype, arrays, case_.scale);
  }

  Bytes block_sum(int owner, std::uint64_t first, std::uint64_t length, std::uint64_t slot) const {
    std::vector<Bytes> arrays;
    for (int rank = 0; rank < case_.ranks; ++rank) {
      const Bytes own = part(sent_[index(rank)], first, length);
      arrays.push_back(rank == owner ? own : through_slot(codec_, case_.dtype, own, slot));
    }
    return sum_of(case_.dtype, arrays, case_.scale);
  }

  Bytes direct_sum() const {
    const std::uint64_t ranks = index(case_.ranks);
    const std::uint64_t step = bytes(((case_.count + ranks - 1) / ranks + 1023) / 1024 * 1024);
    const std::uint64_t whole = bytes(case_.count);
    const std::uint64_t slot = slot_bytes(std::min(step, whole), case_.capacity);
    Bytes all;
    for (int owner = 0; owner < case_.ranks; ++owner) {
      const std::uint64_t first = std::min(whole, step * index(owner));
      const Bytes sums = block_sum(owner, first, std::min(step, whole - first), slot);
      const Bytes came = through_slot(codec_, case_.dtype, sums, slot);
      all.insert(all.end(), came.begin(), came.end());
    }
    return all;
  }

  const Case& case_;
  const std::vector<Bytes>& sent_;
  Codec codec_;
};

// The buffers of one rank, between bytes that must stay.
struct Buffers {
  static constexpr std::uint64_t kAround = 64;

  Buffers(const Case& given, int rank, const Bytes& sent, std::uint64_t receive_bytes)
      : send(sent.size() + 2 * kAround, 64, given.offset),
        receive(receive_bytes + 2 * kAround, 64, given.offset),
        send_at(send.get() + kAround),
        receive_at(receive.get() + kAround) {
    const std::uint64_t block = given.count * value_bytes(given.dtype) * index(rank);
    if (given.in_place && given.operation == TW_STREAM_REDUCE_SCATTER) {
      receive_at = send_at + block;
    } else if (given.in_place) {
      send_at = receive_at + (given.operation == TW_STREAM_ALLGATHER ? block : 0);
    }
    if (!sent.empty()) std::memcpy(send_at, sent.data(), sent.size());
  }

  void expect_kept(const Case& given, const Bytes& sent, const Bytes& received) const {
    const std::byte* const ends[] = {receive.get() + kAround - 1,
                                     receive.get() + kAround + received.size()};
    if (given.operation != TW_STREAM_REDUCE_SCATTER || !given.in_place) {
      for (const std::byte* const end : ends) EXPECT_EQ(*end, std::byte{0xA5});
    }
    if (!given.in_place && !sent.empty()) {
      EXPECT_EQ(std::memcmp(send_at, sent.data(), sent.size()), 0) << "`send` was written to";
    }
  }

  Memory send, receive;
  std::byte *send_at, *receive_at;
};

bool takes_part_together(const Case& given) {
  return given.operation != TW_STREAM_SEND && given.operation != TW_STREAM_RECEIVE;
}

std::uint32_t operation_of(const Case& given, int rank) {
  if (takes_part_together(given)) return given.operation;
  return rank == 0 ? TW_STREAM_SEND : TW_STREAM_RECEIVE;
}

bool takes_part(const Case& given, int rank) {
  return takes_part_together(given) || rank == 0 || rank == given.ranks - 1;
}

std::uint64_t sent_count(const Case& given, int rank) {
  switch (operation_of(given, rank)) {
    case TW_STREAM_BCAST:
      return rank == given.root ? given.count : 0;
    case TW_STREAM_RECEIVE:
      return 0;
    case TW_STREAM_REDUCE_SCATTER:
      return given.count * index(given.ranks);
    default:
      return given.count;
  }
}

void run_rank(const Case& given, int rank, World& world, Carrier& carrier,
              const std::vector<Bytes>& sent, tw_stream_report& report) {
  const Codec codec(given.spec);
  const Comm comm = make_comm(world, rank, given.collectives);
  auto options =
      options_of(operation_of(given, rank), given.dtype, given.count, codec.handle.get());
  options.capacity[0] = given.capacity;
  options.way = given.way;
  options.scale = given.scale;
  options.peer = options.operation == TW_STREAM_SEND    ? given.ranks - 1
                 : options.operation == TW_STREAM_BCAST ? given.root
                                                        : 0;
  const Plan plan = make_plan(comm, options);
  if (!plan) return;
  const Bytes& own = sent[index(rank)];
  const bool sends_alone = options.operation == TW_STREAM_SEND;
  Case mine = given;
  mine.operation = options.operation;
  mine.in_place = given.in_place && takes_part_together(given);
  const Bytes expected = sends_alone ? Bytes() : Expected(mine, sent).of(rank);
  const Buffers buffers(mine, rank, own, sends_alone ? own.size() : expected.size());
  const Lent lent(plan);
  const Mailbox mailbox(16 * 1024);
  carrier.serve(rank, mailbox.memory);
  Stream stream;
  tw_stream_call call{};
  call.size = sizeof call;
  call.plan = plan.get();
  call.number = 7;
  call.send = buffers.send_at;
  call.receive = buffers.receive_at;
  call.device = lent.device;
  call.mailbox = mailbox.memory;
  call.record = lent.record;
  call.stream = &stream;
  EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
  stream.wait();
  report = check(plan, lent.record);
  EXPECT_EQ(report.complete, 1U);
  if (!expected.empty()) {
    EXPECT_EQ(std::memcmp(buffers.receive_at, expected.data(), expected.size()), 0)
        << "rank " << rank;
  }
  buffers.expect_kept(mine, own, expected);
  carrier.stop_serving(mailbox.memory);
}

}  // namespace

std::vector<tw_stream_report> expect_case(const Case& given) {
  SCOPED_TRACE(given.text());
  std::vector<Bytes> sent;
  for (int rank = 0; rank < given.ranks; ++rank) {
    const Data data = given.noisy.contains(rank) ? Data::kNoise : Data::kSmooth;
    sent.push_back(values_of(given.dtype, sent_count(given, rank), rank, data));
  }
  World world(given.ranks);
  Carrier carrier;
  std::vector<tw_stream_report> reports(index(given.ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < given.ranks; ++rank) {
    if (!takes_part(given, rank)) continue;
    threads.emplace_back([&, rank] {
      SCOPED_TRACE(given.text());
      run_rank(given, rank, world, carrier, sent, reports[index(rank)]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return reports;
}

}  // namespace thinwire::slots
