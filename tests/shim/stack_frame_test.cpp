// Calls that the program leaves by longjmp().
#include "shim/mpi/native/stack_frame.h"

#include <gtest/gtest.h>

#include <csetjmp>

namespace thinwire::mpi {
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
