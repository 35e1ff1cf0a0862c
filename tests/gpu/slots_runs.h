// One collective in slots by all of its ranks, and what each of them has then.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "codec/accumulate.h"
#include "collective/slots/device_slots.h"
#include "collective/slots/host_slots.h"
#include "slots_ranks.h"

namespace thinwire::collective {

inline constexpr std::uint64_t kMailboxBytes = 64 * 1024;
inline constexpr std::uint64_t kKeptBytes = 1 << 20;

// A rank's workspace for all cases, zeros once: each leaves it to the next one.
inline std::byte* kept_for(Where where, int rank, std::uint64_t bytes) {
  static std::map<std::pair<Where, int>, Room> rooms;
  if (bytes > kKeptBytes) throw std::runtime_error("a workspace is larger than that");
  const auto [found, is_new] = rooms.try_emplace({where, rank}, where, kKeptBytes);
  std::byte* const at = found->second.get();
  if (is_new && where == Where::kGpu) {
    check(cudaMemset(at, 0, kKeptBytes));
    check(cudaStreamSynchronize(cudaStreamLegacy));
  }
  if (is_new && where == Where::kHost) std::memset(at, 0, kKeptBytes);
  return at;
}

struct Case {
  SlotCall call;
  std::uint64_t offset = 0;  // of the users' buffers
  bool noisy = false;        // the last rank's values do not get smaller
  bool in_place = false;
  int step = 0;              // how often few values have changed by little
  bool damaged = false;      // what goes from the first rank to the third
  bool lent_pinned = false;  // a GPU works in memory of the host
  Change change = {};        // of what goes from rank to rank; mailboxes are aborted then
  // Memory for references of each rank, the host's and those of the other side; none: calls have no
  // references.
  const std::vector<Room>* host_references = nullptr;
  const std::vector<Room>* other_references = nullptr;
};

struct Found {
  std::vector<std::byte> values;
  SlotReport report;
};

inline std::vector<std::byte> values_of(const Case& given, int rank, std::uint64_t count) {
  const bool noise = given.noisy && rank == given.call.ranks - 1;
  std::mt19937 random(static_cast<unsigned>(rank + 1));
  std::vector<std::byte> values(given.call.bytes_of(count));
  const auto number = [&](std::uint64_t at) {
    const double smooth = 1.5 + std::sin(0.002 * static_cast<double>(at) + rank);
    const double rough = std::ldexp(1 + random() * 0x1p-32, static_cast<int>(random() % 12));
    return noise ? rough : smooth;
  };
  if (!is_added(given.call.dtype)) {  // the upper bytes of fp16
    for (std::byte& value : values) {
      const auto at = static_cast<std::uint64_t>(&value - values.data());
      value = static_cast<std::byte>(f16_of(static_cast<float>(number(at))) >> 8);
    }
    return values;
  }
  with_float_dtype(given.call.dtype, [&](auto kDtype) {
    using Number = codec::NumberOf<kDtype>;
    for (std::uint64_t at = 0; at < count; ++at) {
      const auto word = codec::word_of<kDtype>(static_cast<Number>(number(at)));
      store(values.data() + at * sizeof word, word);
    }
  });
  const std::uint64_t size = dtype_size(given.call.dtype);
  for (std::uint64_t at = 0; given.step > 0 && at < count; at += 37) {
    values[at * size] ^= static_cast<std::byte>(given.step);
  }
  return values;
}

// The buffers of one rank. Reduce-scatter reads a block for each rank, Allgather writes one.
struct Buffers {
  Buffers(Where where, const Case& given, int rank)
      : sent(given.call.count * blocks(given, {SlotOperation::kReduceScatter,
                                               SlotOperation::kAlltoall, SlotOperation::kScatter})),
        received(given.call.count *
                 blocks(given, {SlotOperation::kAllgather, SlotOperation::kAlltoall,
                                SlotOperation::kGather})),
        room(where, given.call.bytes_of(sent + received) + 1024) {
    send = room.get() + given.offset;
    receive = send + (given.call.bytes_of(sent) + 511) / 256 * 256;
    const std::uint64_t block = given.call.bytes_of(given.call.count) * static_cast<unsigned>(rank);
    if (given.in_place) {
      const bool together = sent == received;
      if (sent > received) receive = send + block;
      if (sent <= received) send = receive + (together ? 0 : block);
    }
    const auto values = values_of(given, rank, sent);
    move(where, send, values.data(), values.size());
  }
  static std::uint64_t blocks(const Case& given, std::initializer_list<SlotOperation> of) {
    const bool many = std::find(of.begin(), of.end(), given.call.operation) != of.end();
    return many ? static_cast<std::uint64_t>(given.call.ranks) : 1;
  }
  static void move(Where where, std::byte* to, const std::byte* from, std::uint64_t bytes) {
    if (where == Where::kGpu) {
      check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
      // It may return while a short array is still on its way, which the runs' streams do not wait
      // for.
      check(cudaStreamSynchronize(cudaStreamLegacy));
    } else {
      std::memcpy(to, from, bytes);
    }
  }

  std::uint64_t sent, received;
  Room room;
  std::byte *send = nullptr, *receive = nullptr;
};

class Runs : public SlotRuns {
 public:
  Runs(Where where, const Case& given, const std::vector<Room>* references, cudaStream_t stream)
      : where_(where), board_{where, given.damaged, given.change} {
    std::vector<Mailbox*> mailboxes;
    links_.resize(static_cast<std::size_t>(given.call.ranks));
    for (int rank = 0; rank < given.call.ranks; ++rank) {
      SlotCall call = given.call;
      call.rank = rank;
      const bool pair = call.operation == SlotOperation::kSend;
      if (pair && rank == 1) {
        call.operation = SlotOperation::kReceive;
        call.as_is = false;
      }
      if (pair) call.peer = 1 - rank;
      auto plan = SlotPlan::make(call, where == Where::kGpu ? device_needs : host_needs);
      check(plan.status());
      plans_.push_back(std::move(*plan));
      buffers_.emplace_back(where, given, rank);
      lent_.emplace_back(where, plans_.back()->device_bytes(), given.lent_pinned);
      pinned_.emplace_back(where, record_bytes(*plans_.back()), true);
      mailboxes_.emplace_back(where, kMailboxBytes, true);
      check(open_mailbox(mailboxes_.back().get(), kMailboxBytes));
      mailboxes.push_back(&mailbox_at(mailboxes_.back().get()));
      factors_.emplace_back(where, 8);
      std::byte* const kept = kept_for(where, rank, plans_.back()->kept_bytes());
      auto& link = links_[static_cast<std::size_t>(rank)];
      link.transport = std::make_unique<BoardEnd>(board_, rank, call.ranks);
      runs_.push_back(
          {.plan = plans_.back().get(),
           .number = 9,
           .send = buffers_.back().send,
           .receive = buffers_.back().receive,
           .lent = lent_.back().get(),
           .kept = kept,
           .clears = false,
           .mailbox = mailboxes.back(),
           .record = pinned_.back().get(),
           .references = references == nullptr ? nullptr : (*references)[index_of(rank)].get(),
           .forgets = given.step == 0,
           .stream = stream,
           .factor = factor_of(given, rank)});
    }
    if (given.change) {
      std::ranges::for_each(mailboxes, [](Mailbox* mailbox) { abort_mailbox(*mailbox); });
    } else {
      server_ = std::make_unique<Server>(std::move(mailboxes));
    }
  }

  std::uint32_t count() const override { return static_cast<std::uint32_t>(runs_.size()); }
  SlotRun run(std::uint32_t at) const override { return runs_[at]; }
  SlotLink& link(std::uint32_t at) const override { return links_[at]; }

  std::vector<Found> found() const {
    std::vector<Found> all;
    for (std::size_t rank = 0; rank < runs_.size(); ++rank) {
      Found one{{}, check_record(*plans_[rank], runs_[rank].record)};
      one.values.resize(plans_[rank]->call().bytes_of(buffers_[rank].received));
      Buffers::move(where_, one.values.data(), buffers_[rank].receive, one.values.size());
      all.push_back(std::move(one));
    }
    return all;
  }

 private:
  static std::size_t index_of(int rank) { return static_cast<std::size_t>(rank); }

  // A number on rank 0, on the others a value that the stream reads.
  SlotFactor factor_of(const Case& given, int rank) const {
    SlotFactor factor{given.call.premultiplied, given.call.dtype, 0.75, nullptr};
    if (!factor.exists || rank == 0) return factor;
    factor.at = factors_.back().get();
    with_float_dtype(given.call.dtype, [&](auto kDtype) {
      using Number = codec::NumberOf<kDtype>;
      const auto word = codec::word_of<kDtype>(static_cast<Number>(0.5 / rank));
      Buffers::move(where_, factors_.back().get(), reinterpret_cast<const std::byte*>(&word),
                    sizeof word);
    });
    return factor;
  }

  Where where_;
  Board board_;
  mutable std::vector<SlotLink> links_;
  std::vector<std::unique_ptr<SlotPlan>> plans_;
  std::vector<Buffers> buffers_;
  std::vector<Room> lent_, pinned_, mailboxes_, factors_;
  std::vector<SlotRun> runs_;
  std::unique_ptr<Server> server_;
};

inline std::vector<Found> run_on(Where where, const Case& given,
                                 const std::vector<Room>* references) {
  cudaStream_t stream = nullptr;
  if (where == Where::kGpu) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Runs runs(where, given, references, stream);
  check(enqueue_slots(runs));
  if (where == Where::kGpu) check(cudaStreamSynchronize(stream));
  auto found = runs.found();
  if (where == Where::kGpu) check(cudaStreamDestroy(stream));
  return found;
}

}  // namespace thinwire::collective
