// Damage and failures on the way: an error if the data was needed, never a hang and never a
// wrong result.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <unordered_map>

#include "brief.h"
#include "operations.h"
#include "ranks.h"

namespace thinwire::comm {
namespace {

using plan::Operation;
using transport::Arrival;
using transport::Ticket;
using transport::Transport;

enum class Fault { kFlippedByte, kShortened, kEmptied, kRefusedSend };

// Passes everything on, but for one message that arrives at (or leaves) one rank.
class Faulty final : public Transport {
 public:
  Faulty(std::unique_ptr<Transport> inner, Fault fault, int which)
      : inner_(std::move(inner)), fault_(fault), left_(which) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  void idle() override { inner_->idle(); }
  void give_up() override { inner_->give_up(); }

  Result<Ticket> post_send(int peer, ByteView bytes) override {
    if (fault_ == Fault::kRefusedSend && armed_ && left_-- == 0) {
      return {StatusCode::kInternal, "refused"};
    }
    return inner_->post_send(peer, bytes);
  }

  Result<Ticket> post_receive(int peer, MutableByteView into) override {
    auto ticket = inner_->post_receive(peer, into);
    if (ticket.ok()) receives_[*ticket] = into.data();
    return ticket;
  }

  Result<std::uint32_t> test(std::span<const Ticket> tickets, Arrival* arrivals) override {
    const auto done = inner_->test(tickets, arrivals);
    for (std::uint32_t at = 0; done.ok() && at < *done; ++at) {
      const auto found = receives_.find(tickets[arrivals[at].index]);
      if (found == receives_.end()) continue;
      if (armed_ && fault_ != Fault::kRefusedSend && left_-- == 0) {
        harm(found->second, arrivals[at].bytes);
      }
      receives_.erase(found);
    }
    return done;
  }

  void arm() { armed_ = true; }
  bool has_struck() const { return left_ < 0; }

 private:
  void harm(std::byte* data, std::uint64_t& bytes) const {
    if (fault_ == Fault::kFlippedByte) data[bytes - 3] ^= std::byte{0x10};
    if (fault_ == Fault::kShortened) bytes /= 2;
    if (fault_ == Fault::kEmptied) bytes = 0;
  }

  std::unique_ptr<Transport> inner_;
  Fault fault_;
  int left_;
  bool armed_ = false;
  std::unordered_map<Ticket, std::byte*> receives_;
};

struct Outcome {
  bool struck = false;
  int failed = 0;
  int wrong = 0;  // ranks that were told that all is well, and have another result
};

// One message that reaches `victim` is harmed; the codec is lossless and the data compresses, so
// that every packet is a frame.
Outcome run_harmed(const collective::Row& row, int size, int victim, Fault fault, int which) {
  auto ends = transport::make_local(size);
  Options options;
  options.spec = spec_of("mpc");
  options.piece_bytes = 16 * 1024;
  Outcome outcome;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      auto faulty =
          std::make_unique<Faulty>(std::move(ends[static_cast<std::size_t>(rank)]), fault, which);
      Faulty& end = *faulty;
      auto made = Communicator::create(std::move(faulty), options);
      ASSERT_TRUE(made.ok());
      if (rank == victim) end.arm();
      Case own = Case::make(row.operation, rank, size, 20'000, 0, false, false);
      own.call.spec = options.spec;
      own.call.algorithm = row.algorithm;
      own.call.coding = row.coding;
      Report report;
      const bool ok = (*made)->run(own.call, report).ok();
      const std::lock_guard lock(mutex);
      outcome.failed += !ok;
      outcome.wrong +=
          ok && !std::equal(own.expected.begin(), own.expected.end(), own.receive.begin());
      if (rank == victim) outcome.struck = end.has_struck();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcome;
}

class Faults : public testing::TestWithParam<std::size_t> {};

// In brief every two of a fault, a victim and a message meet once.
TEST_P(Faults, AreToldOnTheirWay) {
  const collective::Row& row = collective::algorithms()[GetParam()];
  int struck = 0;
  int number = 0;
  for (const Fault fault : {Fault::kFlippedByte, Fault::kShortened, Fault::kEmptied}) {
    for (const int victim : {0, 1, 3}) {
      for (const int which : {0, 1, 5}) {
        const int at = number++;  // fault, victim and message are its digits to base 3
        if (is_brief() && (at / 9 + at / 3 + at) % 3 != 0) continue;
        const Outcome outcome = run_harmed(row, 4, victim, fault, which);
        struck += outcome.struck;
        EXPECT_EQ(outcome.wrong, 0);
        EXPECT_EQ(outcome.failed > 0, outcome.struck);
      }
    }
  }
  EXPECT_GT(struck, 0);
}

INSTANTIATE_TEST_SUITE_P(Table, Faults,
                         testing::Range(std::size_t{0}, collective::algorithms().size()));

// A rank that cannot take part (no memory, say) still lets the others come to their end.
TEST(Faults, AnUnableRankHoldsNobodyUp) {
  constexpr int kSize = 4, kUnable = 1;
  for (const collective::Row& row : collective::algorithms()) {
    if (row.operation != Operation::kAllreduce) continue;
    auto ends = transport::make_local(kSize);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kSize; ++rank) {
      threads.emplace_back([&, rank] {
        const collective::Schedule schedule =
            row.make({.rank = rank, .size = kSize, .root = 0, .node_of = {}});
        Case own = Case::make(row.operation, rank, kSize, 20'000, 0, false, false);
        const codec::Spec spec = spec_of("mpc");
        Binding binding;
        binding.bind(own.call, collective::Cutter(spec, Dtype::kF32, 16 * 1024), rank, kSize,
                     schedule.blocks, nullptr);
        collective::Program program;
        program.build(schedule, binding.blocks(), false, 4);
        const bool is_unable = rank == kUnable;
        constexpr std::uint64_t kPacket = 64 * 1024;
        std::vector<std::byte> packets(is_unable ? kPacket : program.packets() * kPacket);
        std::vector<std::byte> scratch(is_unable ? 0 : program.scratch_pieces() * kPacket);
        const collective::EngineSettings settings{.spec = spec, .dtype = Dtype::kF32};
        collective::Engine engine(settings, nullptr);
        collective::Executor executor;
        collective::Tally tally;
        Status hindrance;
        if (is_unable) hindrance = {StatusCode::kInternal, "unable"};
        const Status status =
            executor.run(schedule, binding.blocks(), program, binding.arrays(),
                         {.workspace = {packets.data(), kPacket, is_unable ? 0 : kPacket,
                                        scratch.data(), kPacket},
                          .engine = engine,
                          .transport = *ends[static_cast<std::size_t>(rank)]},
                         hindrance, tally);
        EXPECT_FALSE(status.ok());
        if (is_unable) {
          EXPECT_EQ(status.message(), "unable");
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

struct Unable {
  bool in_place = false, varied = false, verify = false;
};

// In one collective a rank is unable, has null buffers, and fails; of the others nobody hangs,
// and who is told that all is well has the result. In the next one all is well.
void run_unable(const collective::Row& row, int unable, const Unable& form) {
  constexpr int kSize = 4;
  Options options;
  options.spec = spec_of(plan::reduces(row.operation) ? "szp:allreduce-abs=1e-3" : "mpc");
  options.piece_bytes = 16 * 1024;
  run_ranks(kSize, options, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    for (const bool strikes : {true, false}) {
      Case own = Case::make(row.operation, rank, kSize, 20'000, 2, form.in_place, form.varied);
      own.call.spec = options.spec;
      own.call.algorithm = row.algorithm;
      own.call.coding = row.coding;
      own.call.verify = form.verify;
      const bool is_unable = strikes && rank == unable;
      if (is_unable) own.call.unable = true, own.call.send = own.call.receive = nullptr;
      Report report;
      const Status status = communicator.run(own.call, report);
      if (is_unable) {
        EXPECT_EQ(status.message(), "this rank could not take part");
      } else if (!strikes || status.ok()) {
        EXPECT_TRUE(status.ok()) << status.message();
        double worst = 0;
        for (std::size_t at = 0; at < own.expected.size(); ++at) {
          worst = std::max(worst, std::abs(static_cast<double>(own.expected[at]) -
                                           static_cast<double>(own.receive[at])));
        }
        EXPECT_LE(worst, 1.1e-3);
      }
    }
  });
}

TEST_P(Faults, AUnableCallHoldsNobodyUp) {
  const collective::Row& row = collective::algorithms()[GetParam()];
  for (const int unable : {0, 2}) {
    run_unable(row, unable, {});
    run_unable(row, unable, {.varied = true});
    run_unable(row, unable, {.verify = true});
    if (row.operation != Operation::kBcast) run_unable(row, unable, {.in_place = true});
  }
}

// The rank whose transport fails cannot go on, and the others learn it from theirs.
TEST(Faults, AFailedTransportEndsItsCommunicator) {
  auto ends = transport::make_local(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      auto faulty = std::make_unique<Faulty>(std::move(ends[static_cast<std::size_t>(rank)]),
                                             Fault::kRefusedSend, 0);
      Faulty& end = *faulty;
      auto made = Communicator::create(std::move(faulty), {});
      ASSERT_TRUE(made.ok());
      if (rank == 0) end.arm();
      Case own = Case::make(Operation::kAllgather, rank, 3, 100, 0, false, false);
      Report report;
      const Status first = (*made)->run(own.call, report);
      EXPECT_EQ(first.code(), StatusCode::kInternal);
      if (rank == 0) {
        EXPECT_EQ(first.message(), "refused");
      }
      EXPECT_EQ((*made)->run(own.call, report).code(), StatusCode::kInternal);
      // A plan would have the ranks agree, by a transport that is no more.
      EXPECT_EQ((*made)->learn_cost(own.call).code(), StatusCode::kInternal);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace thinwire::comm
