// Steps of a program: the run of calls that repeats, and what its passes take.
#include "shim/common/trace/steps.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "shim/common/trace/cells.h"

namespace thinwire::shim {
namespace {

using Calls = std::vector<std::uint32_t>;

// Calls that a run has in the end, and where passes began.
struct Found {
  std::size_t calls = 0;
  std::vector<std::size_t> begins;
};

Found found_in(const Calls& calls) {
  RepeatedRun run;
  Found found;
  for (std::size_t at = 0; at < calls.size(); ++at) {
    if (run.next(calls[at])) found.begins.push_back(at);
  }
  found.calls = run.calls();
  return found;
}

Calls repeated(const Calls& once, std::size_t times, Calls before = {}) {
  for (std::size_t time = 0; time < times; ++time) {
    before.insert(before.end(), once.begin(), once.end());
  }
  return before;
}

void expect_even(const Found& found, std::size_t calls) {
  EXPECT_EQ(found.calls, calls);
  for (std::size_t at = 1; at < found.begins.size(); ++at) {
    EXPECT_EQ(found.begins[at] - found.begins[at - 1], calls) << at;
  }
}

TEST(RepeatedRun, IsFoundAfterACallsBeforeIt) {
  const Found found = found_in(repeated({1, 2, 3}, 40, {9, 9, 8, 7, 1}));
  expect_even(found, 3);
  EXPECT_LE(found.begins.front(), 32U);
  EXPECT_GE(found.begins.size(), 30U);
}

TEST(RepeatedRun, OneCallIsARunOfOne) { expect_even(found_in(Calls(100, 5)), 1); }

TEST(RepeatedRun, CallsThatDifferHaveNone) {
  Calls calls;
  for (std::uint32_t at = 0; at < 20'000; ++at) calls.push_back(at * at + at % 7);
  const Found found = found_in(calls);
  EXPECT_EQ(found.calls, 0U);
  EXPECT_TRUE(found.begins.empty());
}

// As sharded training has them: the same call of all layers, then two in turns.
TEST(RepeatedRun, PartsThatRepeatThemselvesAreNoSteps) {
  Calls once = Calls(32, 1);
  once = repeated({1, 2}, 32, once);
  const Found found = found_in(repeated(once, 40));
  EXPECT_EQ(found.calls, once.size());
  // The last thirty steps are told as such.
  ASSERT_GE(found.begins.size(), 30U);
  for (std::size_t back = 1; back < 30; ++back) {
    const std::size_t at = found.begins.size() - back;
    EXPECT_EQ(found.begins[at] - found.begins[at - 1], once.size());
  }
}

TEST(RepeatedRun, ACallBetweenStepsIsForgotten) {
  Calls once;
  for (std::uint32_t at = 0; at < 100; ++at) once.push_back(at + 10);
  Calls calls = repeated(once, 25);
  calls.push_back(7);
  calls = repeated(once, 10, calls);
  const Found found = found_in(calls);
  EXPECT_EQ(found.calls, once.size());
  EXPECT_GE(found.begins.back(), calls.size() - once.size());
  std::size_t after = 0;
  for (const std::size_t at : found.begins) after += at > 2501 ? 1 : 0;
  EXPECT_GE(after, 7U);
}

TEST(RepeatedRun, OneThatIsTooLongIsNotFound) {
  Calls once;
  for (std::uint32_t at = 0; at <= RepeatedRun::kMost / 2; ++at) once.push_back(at);
  EXPECT_EQ(found_in(repeated(once, 12)).calls, 0U);
  once.pop_back();
  EXPECT_EQ(found_in(repeated(once, 12)).calls, RepeatedRun::kMost / 2);
}

TEST(RepeatedRun, AnotherRunFollows) {
  const Found found = found_in(repeated({4, 5, 6, 7, 8}, 2000, repeated({1, 2, 3}, 2000)));
  EXPECT_EQ(found.calls, 5U);
}

TEST(CallNumber, IsTheSameCompressedAndRaw) {
  const CellKey raw{3, 0, 0xff, 9, 1, -1};
  CellKey compressed = raw;
  compressed.reason = 0;
  compressed.codec = 2;
  EXPECT_EQ(call_number(raw, 4096), call_number(compressed, 4096));
  EXPECT_NE(call_number(raw, 4096), call_number(raw, 8192));
  CellKey other = raw;
  other.operation = 4;
  EXPECT_NE(call_number(raw, 4096), call_number(other, 4096));
}

void make_steps(Steps& steps, int number, bool is_compressed, std::chrono::milliseconds each) {
  for (int at = 0; at < number; ++at) {
    steps.call(1, false, Writers::kMany);
    steps.call(2, is_compressed, Writers::kMany);
    std::this_thread::sleep_for(each);
  }
}

TEST(Steps, AreTimedCompressedAndRaw) {
  Steps steps;
  make_steps(steps, 20, false, {});
  EXPECT_EQ(steps.take().calls, 2U);
  make_steps(steps, 3, true, std::chrono::milliseconds(4));
  make_steps(steps, 2, false, std::chrono::milliseconds(8));
  make_steps(steps, 1, false, {});
  const StepSums sums = steps.take();
  EXPECT_EQ(sums.calls, 2U);
  // The step of the change has calls of both ways.
  EXPECT_EQ(sums.compressed + sums.raw, 6U);
  EXPECT_GE(sums.compressed, 3U);
  EXPECT_GE(sums.raw, 2U);
  EXPECT_GE(sums.compressed_nanoseconds + sums.raw_nanoseconds, 28'000'000U);
  EXPECT_EQ(steps.take().calls, 0U);
}

TEST(Steps, ThreadsThatMeetLoseNothingElse) {
  Steps steps;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&steps, thread] {
      for (int at = 0; at < 20'000; ++at) steps.call(thread, true, Writers::kMany);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const StepSums sums = steps.take();
  EXPECT_LE(sums.compressed, 80'000U);
  EXPECT_EQ(sums.raw, 0U);
}

}  // namespace
}  // namespace thinwire::shim
