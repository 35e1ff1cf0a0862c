// Calls under way are put in order before an error handler runs, which may leave them by a jump.
#include "shim/mpi/native/under_way.h"

#include <gtest/gtest.h>
#include <ucontext.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <thread>

#include "shim/mpi/native/stack_frame.h"

namespace thinwire::mpi {
namespace {

class Held final : UnderWay {
 public:
  explicit Held(int& times) : times_(times) { begin(); }
  using UnderWay::end;

 private:
  void before_handler(int error) override {
    EXPECT_TRUE(is_putting_in_order());
    times_ += error;
  }
  int& times_;
};

TEST(UnderWayTest, EachIsPutInOrderOnce) {
  int outer = 0, inner = 0;
  const Held first(outer);
  {
    const Held second(inner);
    put_in_order(3);
    put_in_order(5);
  }
  EXPECT_EQ(outer, 3);
  EXPECT_EQ(inner, 3);
  EXPECT_FALSE(is_putting_in_order());
}

TEST(UnderWayTest, OneThatHasEndedIsLeftAlone) {
  int first_times = 0, second_times = 0;
  Held first(first_times);
  Held second(second_times);
  first.end();
  put_in_order(1);
  EXPECT_EQ(first_times, 0);
  EXPECT_EQ(second_times, 1);
}

std::jmp_buf g_before_jump;

[[gnu::noinline]] void leave_held(int& times) {
  const Held call(times);
  put_in_order(1);
  std::longjmp(g_before_jump, 1);
}

TEST(UnderWayTest, NothingThatWasLeftIsTouched) {
  static int times = 0, after = 0;
  if (setjmp(g_before_jump) == 0) leave_held(times);
  const Held next(after);
  put_in_order(1);
  EXPECT_EQ(times, 1);
  EXPECT_EQ(after, 1);
}

TEST(UnderWayTest, OtherThreadsAreLeftAlone) {
  int times = 0;
  const Held call(times);
  std::thread([] { put_in_order(1); }).join();
  EXPECT_EQ(times, 0);
}

// A user-level thread waits in its call, on a stack of its own, while a handler runs beside it.
struct Fibre {
  ucontext_t main{}, own{};
  std::array<std::byte, 256 * 1024> stack{};
  int times = 0, beside = 0;
};
Fibre g_fibre;

void wait_in_a_call() {
  const Held call(g_fibre.times);
  swapcontext(&g_fibre.own, &g_fibre.main);
  put_in_order(1);
  EXPECT_EQ(g_fibre.beside, 0);
}

TEST(UnderWayTest, CallsOnAnotherStackAreLeftAlone) {
  getcontext(&g_fibre.own);
  g_fibre.own.uc_stack.ss_sp = g_fibre.stack.data();
  g_fibre.own.uc_stack.ss_size = g_fibre.stack.size();
  g_fibre.own.uc_link = &g_fibre.main;
  makecontext(&g_fibre.own, wait_in_a_call, 0);
  swapcontext(&g_fibre.main, &g_fibre.own);
  put_in_order(1);
  EXPECT_EQ(g_fibre.times, 0);
  {
    const Held beside(g_fibre.beside);
    swapcontext(&g_fibre.main, &g_fibre.own);
  }
  EXPECT_EQ(g_fibre.times, 1);
}

}  // namespace
}  // namespace thinwire::mpi
