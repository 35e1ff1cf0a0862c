// Communicators keep no memory between calls.
#include <gtest/gtest.h>

#include <barrier>

#include "device/pool.h"
#include "operations.h"
#include "ranks.h"

namespace thinwire::comm {
namespace {

constexpr int kRanks = 2, kCommunicators = 6;
constexpr std::uint64_t kBound = 2 << 20, kCount = 1 << 20;

device::PoolCounters counters() { return device::describe_pool(device::Memory::kHost, -1); }

using Made = std::vector<std::unique_ptr<Communicator>>;

void run_on_each(Made& communicators, int rank) {
  using plan::Operation;
  for (const auto& each : communicators) {
    for (const Operation operation : {Operation::kAllgather, Operation::kAllreduce}) {
      Case one = Case::make(operation, rank, kRanks, kCount, 0, false, false);
      one.call.spec = spec_of(operation == Operation::kAllreduce ? "szp:allreduce-abs=0.5" : "mpc");
      Report report;
      const Status status = each->run(one.call, report);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(report.choice.reason, plan::Reason::kCompress);
      EXPECT_GT(report.workspace_bytes, kBound);
    }
  }
}

TEST(Memory, IsBackInThePoolBetweenCalls) {
  const std::uint64_t loans = counters().loans;
  device::set_idle_bound(kBound);
  std::vector<std::vector<std::unique_ptr<transport::Transport>>> ends;
  for (int at = 0; at < kCommunicators; ++at) ends.push_back(transport::make_local(kRanks));
  std::barrier together(kRanks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      Made made;
      for (auto& each : ends) {
        auto communicator =
            Communicator::create(std::move(each[static_cast<std::size_t>(rank)]), Options());
        if (!communicator.ok()) ADD_FAILURE() << communicator.status().message();
        made.push_back(std::move(*communicator));
      }
      run_on_each(made, rank);
      together.arrive_and_wait();
      EXPECT_EQ(counters().loaned_bytes, 0u);
      EXPECT_LE(counters().idle_bytes, kBound);
      together.arrive_and_wait();  // the communicators live until here
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(counters().loans, loans + 2 * kRanks * kCommunicators);
  device::set_idle_bound(std::uint64_t{2} << 30);
}

}  // namespace
}  // namespace thinwire::comm
