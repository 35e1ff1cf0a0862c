// Tests that a launcher's missing answers are asked for again, and never taken for a rank without
// the library.
#include "shim/mpi/job/job.h"

#include <gtest/gtest.h>

namespace thinwire::mpi {
namespace {

using namespace std::chrono_literals;
constexpr char kCapabilities[] = "0 65536 1 0 1 0,1,2";

// Does not know for `failures` questions; then it has capabilities, of rank 1.
class FailingLauncher final : public Launcher {
 public:
  explicit FailingLauncher(int failures) : failures_(failures) {}
  void publish(const std::string&) override {}
  bool published() const override { return true; }
  const std::string& job_name() const override { return name_; }
  std::vector<int> ranks_on_this_node() override { return {0, 1}; }
  bool always_answers() const override { return true; }
  bool is_lost() const override { return lost; }
  CapabilitiesText capabilities_of(int rank) override {
    ++asked;
    if (failures_-- > 0) return {false, std::nullopt};
    return rank == 1 ? CapabilitiesText{true, kCapabilities} : CapabilitiesText{true, std::nullopt};
  }

  int asked = 0;
  bool lost = false;

 private:
  int failures_;
  std::string name_ = "job";
};

struct Asked {
  explicit Asked(int failures, std::chrono::milliseconds patience = Job::kPatience)
      : launcher(new FailingLauncher(failures)),
        job(std::unique_ptr<Launcher>(launcher), patience) {
    job.learn_locality(0);
  }
  FailingLauncher* launcher;
  Job job;
};

TEST(AskAgain, PausesTwiceAsLongEachTimeUpToASecond) {
  AskAgain ask;
  auto now = AskAgain::Clock::now();
  EXPECT_TRUE(ask.is_time(7, now));
  for (const auto pause :
       {1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 256ms, 512ms, 1000ms, 1000ms}) {
    ask.failed(7, now);
    EXPECT_FALSE(ask.is_time(7, now + pause - 1us));
    EXPECT_TRUE(ask.is_time(8, now));
    now += pause;
    EXPECT_TRUE(ask.is_time(7, now));
  }
  ask.answered(7);
  EXPECT_TRUE(ask.is_time(7, now - 1h));
}

TEST(Job, AsksAgainButNotAtEachMessage) {
  Asked one(2);
  int unknown = 0;
  const auto end = AskAgain::Clock::now() + 10s;
  while (!one.job.capabilities_of(1).known && AskAgain::Clock::now() < end) ++unknown;
  EXPECT_EQ(one.launcher->asked, 3);
  EXPECT_GT(unknown, 3);
  ASSERT_TRUE(one.job.capabilities_of(1).capabilities);
}

TEST(Job, InsistsUntilItKnows) {
  Asked one(5);
  EXPECT_TRUE(one.job.insist_on_capabilities_of(1).capabilities);
  Asked other(5);
  const CapabilitiesAnswer none = other.job.insist_on_capabilities_of(2);
  EXPECT_TRUE(none.known);
  EXPECT_FALSE(none.capabilities);
}

TEST(Job, InsistsNoLongerThanItsPatience) {
  Asked one(1000, 50ms);
  EXPECT_FALSE(one.job.insist_on_capabilities_of(1).known);
  EXPECT_LT(one.launcher->asked, 10);
  Asked lost(1000);
  lost.launcher->lost = true;
  EXPECT_FALSE(lost.job.insist_on_capabilities_of(1).known);
  EXPECT_EQ(lost.launcher->asked, 1);
}

}  // namespace
}  // namespace thinwire::mpi
