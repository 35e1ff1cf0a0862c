// Runs a case on the ranks that take part.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/dtype.h"
#include "calls.h"
#include "codec/accumulate.h"

namespace thinwire::slots {
namespace {

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

bool takes_part_together(const Case& given) {
  return given.operation != TW_STREAM_SEND && given.operation != TW_STREAM_RECEIVE;
}

std::uint32_t operation_of(const Case& given, int rank) {
  if (takes_part_together(given)) return given.operation;
  return rank == 0 ? TW_STREAM_SEND : TW_STREAM_RECEIVE;
}

bool has_root(std::uint32_t operation) {
  return operation == TW_STREAM_BCAST || operation == TW_STREAM_GATHER_AT_ROOT ||
         operation == TW_STREAM_SCATTER || operation == TW_STREAM_REDUCE;
}

// Whether send and receive can overlap, and where in the larger one the other lies.
bool lies_in_send(const Case& given, int rank) {
  return given.operation == TW_STREAM_REDUCE_SCATTER ||
         (given.operation == TW_STREAM_SCATTER && rank == given.root);
}
bool lies_in_receive(const Case& given, int rank) {
  return given.operation == TW_STREAM_ALLGATHER ||
         (given.operation == TW_STREAM_GATHER_AT_ROOT && rank == given.root);
}

std::uint64_t sent_count(const Case& given, int rank) {
  switch (operation_of(given, rank)) {
    case TW_STREAM_BCAST:
      return rank == given.root ? given.count : 0;
    case TW_STREAM_RECEIVE:
      return 0;
    case TW_STREAM_REDUCE_SCATTER:
    case TW_STREAM_ALLTOALL:
      return given.count * index(given.ranks);
    case TW_STREAM_SCATTER:
      return rank == given.root ? given.count * index(given.ranks) : 0;
    default:
      return given.count;
  }
}

tw_stream_plan_options plan_options(const Case& given, int rank, const tw_codec* codec) {
  auto options = options_of(operation_of(given, rank), given.dtype, given.count, codec);
  options.capacity[0] = given.capacity;
  options.way = given.way;
  options.scale = given.scale;
  if (given.factors != Factors::kNone) options.flags = TW_STREAM_PREMULTIPLIED;
  if (given.in_rounds.contains(rank)) options.flags |= TW_STREAM_ROUNDS;
  if (given.as_is && rank == 0) options.flags |= TW_STREAM_AS_IS;
  if (options.operation == TW_STREAM_SEND) options.peer = given.ranks - 1;
  if (has_root(options.operation)) options.peer = given.root;
  return options;
}

// As it is for that rank.
Case case_of(const Case& given, int rank) {
  Case mine = given;
  mine.operation = operation_of(given, rank);
  mine.in_place = given.in_place && takes_part_together(given);
  return mine;
}

}  // namespace

bool takes_part(const Case& given, int rank) {
  return takes_part_together(given) || rank == 0 || rank == given.ranks - 1;
}

std::vector<Bytes> arrays_of(const Case& given) {
  std::vector<Bytes> sent;
  for (int rank = 0; rank < given.ranks; ++rank) {
    const Data others = given.large ? Data::kLarge : Data::kSmooth;
    const Data data = given.noisy.contains(rank) ? Data::kNoise : others;
    sent.push_back(values_of(given.dtype, sent_count(given, rank), given.seed + rank, data));
  }
  return sent;
}

CaseOnRank::Buffers::Buffers(const Case& given, int rank, const Bytes& sent,
                             std::uint64_t receive_bytes)
    : send(sent.size() + 2 * kAround, 64, given.offset),
      receive(receive_bytes + 2 * kAround, 64, given.offset),
      send_at(send.get() + kAround),
      receive_at(receive.get() + kAround) {
  const std::uint64_t block = given.count * value_bytes(given.dtype) * index(rank);
  const bool apart = given.operation == TW_STREAM_GATHER_AT_ROOT ||
                     given.operation == TW_STREAM_SCATTER ||
                     (given.operation == TW_STREAM_REDUCE && rank != given.root);
  if (given.in_place && lies_in_send(given, rank)) {
    receive_at = send_at + block;
  } else if (given.in_place && lies_in_receive(given, rank)) {
    send_at = receive_at + block;
  } else if (given.in_place && !apart) {
    send_at = receive_at;
  }
  if (!sent.empty()) std::memcpy(send_at, sent.data(), sent.size());
}

CaseOnRank::CaseOnRank(const Case& given, int rank, const Comm& comm,
                       const std::vector<Bytes>& sent)
    : case_(case_of(given, rank)),
      rank_(rank),
      own_(sent[index(rank)]),
      expected_(case_.operation == TW_STREAM_SEND ? Bytes() : expected_of(case_, sent, rank)),
      codec_(given.spec),
      plan_(make_plan(comm, plan_options(given, rank, codec_.handle.get()))),
      lent_(plan_),
      buffers_(case_, rank, own_,
               case_.operation == TW_STREAM_SEND ? own_.size() : expected_.size()),
      factor_(8) {
  with_float_dtype(static_cast<Dtype>(case_.dtype), [&](auto kDtype) {
    using Number = codec::NumberOf<kDtype>;
    store(factor_.get(), codec::word_of<kDtype>(static_cast<Number>(factor_of(rank_))));
  });
}

tw_stream_call CaseOnRank::call(std::uint64_t number, const Mailbox& mailbox,
                                Stream& stream) const {
  tw_stream_call made{};
  made.size = sizeof made;
  made.plan = plan_.get();
  made.number = number;
  made.send = buffers_.send_at;
  made.receive = buffers_.receive_at;
  made.mailbox = mailbox.memory;
  lent_.lend(made);
  made.stream = &stream;
  if (case_.factors == Factors::kNumbers) made.factor = factor_of(rank_);
  if (case_.factors == Factors::kInMemory) made.factor_at = factor_.get();
  return made;
}

tw_stream_report CaseOnRank::expect() const {
  SCOPED_TRACE(case_.text() + " rank " + std::to_string(rank_));
  const tw_stream_report report = check(plan_, lent_.record);
  EXPECT_EQ(report.complete, 1U);
  lent_.expect_zeros();
  if (!expected_.empty()) {
    EXPECT_EQ(std::memcmp(buffers_.receive_at, expected_.data(), expected_.size()), 0);
  }
  const std::byte* const around[] = {buffers_.receive.get() + Buffers::kAround - 1,
                                     buffers_.receive.get() + Buffers::kAround + expected_.size()};
  for (const std::byte* const end : around) {
    if (case_.in_place && lies_in_send(case_, rank_)) break;
    EXPECT_EQ(*end, std::byte{0xA5}) << "what lies around `receive` was written to";
  }
  if (!case_.in_place && !own_.empty()) {
    EXPECT_EQ(std::memcmp(buffers_.send_at, own_.data(), own_.size()), 0)
        << "`send` was written to";
  }
  return report;
}

// Checks the groups if all that goes are messages between any two ranks, of one round or of all.
void expect_groups(const Case& given, const World& world) {
  if (given.has_levels()) return;
  const bool of_messages =
      given.operation == TW_STREAM_REDUCE_SCATTER || given.operation == TW_STREAM_ALLTOALL;
  if (!of_messages || given.count == 0 || given.ranks == 1) return;
  const bool all_in_rounds = given.in_rounds.size() == index(given.ranks);
  // Raw values have their factor in a message beside them.
  const bool is_raw = given.is_in_order() && given.capacity == 512;
  const std::size_t each = is_raw && given.factors != Factors::kNone ? 4 : 2;
  EXPECT_EQ(world.most_together, all_in_rounds ? each : each * (index(given.ranks) - 1));
}

// Inside a node nothing is coded, and between nodes goes what is said here, in slots that hold all.
void expect_traffic(const Case& given, World& world) {
  if (given.nodes.empty() || given.capacity != 512 || given.factors != Factors::kNone) return;
  const std::uint64_t block = given.count * value_bytes(given.dtype);
  const std::uint64_t slot = std::max<std::uint64_t>(1, (block + 511) / 512) * 512;
  const std::uint64_t ranks = index(given.ranks), nodes = index(given.nodes_count());
  if (block == 0 || given.node_sizes().first != given.node_sizes().second) return;
  std::uint64_t inside = 0, between = 0;
  for (const auto& [way, bytes] : world.bytes) {
    (given.are_together(way.first, way.second) ? inside : between) += bytes;
  }
  const std::uint64_t mates = ranks / nodes - 1, strangers = ranks - ranks / nodes;
  if (given.operation == TW_STREAM_ALLTOALL) {
    EXPECT_EQ(inside, ranks * mates * block);
    EXPECT_EQ(between, ranks * strangers * slot);
  } else if (given.has_levels() && given.operation == TW_STREAM_ALLGATHER) {
    EXPECT_EQ(inside, ranks * mates * nodes * block);
    EXPECT_EQ(between, ranks * (nodes - 1) * slot);
  } else if (given.has_levels() && given.operation == TW_STREAM_REDUCE_SCATTER) {
    EXPECT_EQ(inside, ranks * mates * nodes * block);
    EXPECT_EQ(between, ranks * (nodes - 1) * slot);
  } else if (given.has_levels() && given.operation == TW_STREAM_ALLREDUCE) {
    // All blocks once each way between a node and each other one, but for what slots are longer by.
    EXPECT_EQ(inside, 2 * mates * nodes * block);
    EXPECT_GE(between, 2 * (nodes - 1) * block);
    if (given.count % (1024 * ranks) == 0) {
      EXPECT_EQ(between, 2 * (nodes - 1) * block);
    }
  }
}

std::vector<tw_stream_report> expect_case(const Case& given) {
  SCOPED_TRACE(given.text());
  const std::vector<Bytes> sent = arrays_of(given);
  World world(given.ranks);
  Carrier carrier;
  std::vector<tw_stream_report> reports(index(given.ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < given.ranks; ++rank) {
    if (!takes_part(given, rank)) continue;
    threads.emplace_back([&, rank] {
      const Comm comm = make_comm(world, rank, given.collectives, given.nodes);
      const CaseOnRank own(given, rank, comm, sent);
      const Mailbox mailbox(16 * 1024);
      carrier.serve(rank, mailbox.memory);
      Stream stream;
      const tw_stream_call call = own.call(7, mailbox, stream);
      EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
      stream.wait();
      reports[index(rank)] = own.expect();
      carrier.stop_serving(mailbox.memory);
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect_groups(given, world);
  expect_traffic(given, world);
  return reports;
}

}  // namespace thinwire::slots
