// Calls under way are put in order before an error handler runs, which may leave them by a jump;
// and those that the program leaves by longjmp() are found.
#include <gtest/gtest.h>
#include <ucontext.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <thread>

#include "shim/mpi/native/stack_frame.h"
#include "shim/mpi/native/under_way.h"

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

// Calls that the program leaves by longjmp().
namespace {

struct Call {
  [[gnu::noinline]] explicit Call(OutermostCall& outermost) : outermost_(outermost) {
    counts = outermost_.enter(this, __builtin_return_address(0), left);
  }
  ~Call() { outermost_.leave(this); }
  bool counts = false, left = false;

 private:
  OutermostCall& outermost_;
};

std::jmp_buf g_before;

[[gnu::noinline]] void leave(OutermostCall& outermost) {
  const Call call(outermost);
  EXPECT_TRUE(call.counts);
  std::longjmp(g_before, 1);
}

// volatile: a frame that the compiler does not leave out.
[[gnu::noinline]] bool forget_from_deeper(OutermostCall& outermost) {
  volatile char frame[4096];
  frame[0] = 0;
  const char here = frame[0];
  return outermost.forget_if_left(&here);
}

[[gnu::noinline]] void call_inside(OutermostCall& outermost) {
  const Call call(outermost);
  EXPECT_FALSE(call.counts);
  EXPECT_FALSE(call.left);
}

TEST(StackFrameTest, ACallUnderWayIsNotForgotten) {
  OutermostCall outermost;
  {
    const Call call(outermost);
    EXPECT_TRUE(call.counts);
    EXPECT_FALSE(forget_from_deeper(outermost));
    call_inside(outermost);
    EXPECT_FALSE(forget_from_deeper(outermost));
  }
  const Call next(outermost);
  EXPECT_TRUE(next.counts);
  EXPECT_FALSE(next.left);
}

TEST(StackFrameTest, ACallThatWasLeftIsFoundFromDeeper) {
  static OutermostCall outermost;
  if (setjmp(g_before) == 0) leave(outermost);
  EXPECT_TRUE(forget_from_deeper(outermost));
  EXPECT_FALSE(forget_from_deeper(outermost));
}

TEST(StackFrameTest, TheNextCallTakesThePlaceOfOneThatWasLeft) {
  static OutermostCall outermost;
  if (setjmp(g_before) == 0) leave(outermost);
  const Call call(outermost);
  EXPECT_TRUE(call.counts);
  EXPECT_TRUE(call.left);
}

// The inner call alone is gone: the outer one still runs.
TEST(StackFrameTest, AJumpWithinACallLeavesItUnderWay) {
  static OutermostCall outermost;
  const Call call(outermost);
  if (setjmp(g_before) == 0) {
    call_inside(outermost);
    std::longjmp(g_before, 1);
  }
  EXPECT_FALSE(forget_from_deeper(outermost));
}

}  // namespace

}  // namespace thinwire::mpi
