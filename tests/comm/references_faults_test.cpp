// Faults in a call that is coded against a result of an earlier one, or that gives one: an error
// where data was needed, and all forget what one has lost.
#include <atomic>
#include <map>
#include <new>

#include "evolving.h"
#include "frame/delta.h"
#include "ranks.h"

namespace {
thread_local bool memory_fails = false;
}  // namespace

// The one form of `new` by which results are kept.
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  if (memory_fails) return nullptr;
  try {
    return ::operator new[](bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

namespace thinwire::comm {
namespace {

// One call in which `strike` does something to rank 1; the next ones are right, and in the end
// coded against results again.
template <typename Strike>
void run_struck(bool may_fail, Strike&& strike) {
  constexpr int kSize = 3;
  run_ranks(kSize, with_references(16 * kMiB), [&](Communicator& communicator) {
    Evolving array(Dtype::kBf16, 400'000, 21);
    std::uint64_t deltas = 0;
    for (int step = 0; step < 8; ++step) {
      How how;
      const bool is_struck = step == 3;
      if (is_struck && communicator.rank() == 1) strike(how);
      const Moved moved = move(communicator, array, how);
      memory_fails = false;
      if (!is_struck || !may_fail) {
        ASSERT_TRUE(moved.status.ok()) << step << ": " << moved.status.message();
      }
      if (moved.status.ok()) {
        EXPECT_TRUE(moved.is_right);
      }
      if (step >= 6) deltas += moved.report.tally.delta_packets;
      array.step();
    }
    EXPECT_GT(deltas, 0u);
  });
}

TEST(References, ARankWithoutMemoryForAResult) {
  std::atomic<int> kept = 0;
  run_ranks(2, with_references(16 * kMiB), [&](Communicator& communicator) {
    Evolving array(Dtype::kBf16, 400'000, 22);
    for (int step = 0; step < 4; ++step) {
      memory_fails = step == 0 && communicator.rank() == 1;
      const Moved moved = move(communicator, array, {});
      memory_fails = false;
      ASSERT_TRUE(moved.status.ok()) << moved.status.message();
      EXPECT_TRUE(moved.is_right);
      // The first result is lost to one, so to all; the second is kept, and used by the third.
      EXPECT_EQ(moved.report.tally.delta_packets > 0, step >= 2);
      kept += moved.report.tally.delta_packets > 0;
      array.step();
    }
  });
  EXPECT_EQ(kept, 4);
}

TEST(References, AnUnableRank) {
  run_struck(true, [](How& how) { how.unable = true; });
}

// Passes everything on, but for one message that arrives.
class Damaging final : public transport::Transport {
 public:
  enum class Where { kReferenceSum, kNumber, kFrame };
  Damaging(std::unique_ptr<Transport> inner, Where where)
      : inner_(std::move(inner)), where_(where) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  void idle() override { inner_->idle(); }
  void give_up() override { inner_->give_up(); }
  Result<transport::Ticket> post_send(int peer, ByteView bytes) override {
    return inner_->post_send(peer, bytes);
  }
  Result<transport::Ticket> post_receive(int peer, MutableByteView into) override {
    const auto ticket = inner_->post_receive(peer, into);
    if (ticket.ok()) receives_[*ticket] = into.data();
    return ticket;
  }
  Result<std::uint32_t> test(std::span<const transport::Ticket> tickets,
                             transport::Arrival* arrivals) override {
    const auto done = inner_->test(tickets, arrivals);
    for (std::uint32_t at = 0; done.ok() && at < *done; ++at) {
      std::byte* const data = receives_[tickets[arrivals[at].index]];
      const ByteView bytes(data, data == nullptr ? 0 : arrivals[at].bytes);
      receives_.erase(tickets[arrivals[at].index]);
      if (armed && frame::is_delta(bytes, frame::file_mark())) harm(data);
    }
    return done;
  }

  bool armed = false;

 private:
  // With a right checksum of its own, so that the reference's decides.
  void harm(std::byte* data) {
    armed = false;
    if (where_ == Where::kFrame) {
      data[frame::kDeltaBytes + 60] ^= std::byte{1};
      return;
    }
    auto delta = *frame::unpack_delta({data, frame::kDeltaBytes}, frame::file_mark());
    (where_ == Where::kNumber ? delta.reference : delta.checksum) += 1;
    frame::pack_delta(delta, frame::file_mark(), data);
  }

  std::unique_ptr<Transport> inner_;
  Where where_;
  std::map<transport::Ticket, std::byte*> receives_;
};

TEST(References, DamageIsAnErrorAndThenForgotten) {
  for (const auto where :
       {Damaging::Where::kReferenceSum, Damaging::Where::kNumber, Damaging::Where::kFrame}) {
    auto ends = transport::make_local(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        auto harming =
            std::make_unique<Damaging>(std::move(ends[static_cast<std::size_t>(rank)]), where);
        Damaging& end = *harming;
        auto made = Communicator::create(std::move(harming), with_references(16 * kMiB));
        ASSERT_TRUE(made.ok());
        Evolving array(Dtype::kBf16, 400'000, 23);
        for (int step = 0; step < 6; ++step) {
          const bool is_harmed = step == 2 && rank == 1;
          end.armed = is_harmed;
          const Moved moved = move(**made, array, {});
          EXPECT_EQ(moved.status.ok(), !is_harmed) << moved.status.message();
          if (is_harmed) {
            EXPECT_EQ(moved.status.code(), StatusCode::kDamaged);
          }
          if (moved.status.ok()) {
            EXPECT_TRUE(moved.is_right);
          }
          // In the fourth call all forget; its result serves the fifth.
          EXPECT_EQ(moved.report.tally.delta_packets > 0, step != 0 && step != 3) << step;
          array.step();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace thinwire::comm
