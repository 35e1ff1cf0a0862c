// Whose a continuation is that a call finds after the MPI has completed its requests: handles are
// given again before.
#include "shim/mpi/message/late_calls.h"

#include <gtest/gtest.h>

namespace thinwire::mpi {
namespace {

// Any two values that are no handles of the MPI's: nobody uses them as such.
MPI_Request handle(long number) { return reinterpret_cast<MPI_Request>(number); }

struct LateCallsTest : ::testing::Test {
  LateCall make(const MPI_Request* requests, std::size_t count) {
    LateCall call;
    call.requests = requests;
    call.count = count;
    return call;
  }
  LateCalls calls;
  const MPI_Request both[2] = {handle(8), handle(16)};
  const MPI_Request one[1] = {handle(8)};
};

TEST_F(LateCallsTest, WhatWasPutBeforeIsItsOwn) {
  LateCall call = make(both, 2);
  calls.begin(call, 5);
  EXPECT_FALSE(calls.is_anothers(&call, 4, handle(8)));
  calls.end(call);
}

// An operation of another thread has got the handle since.
TEST_F(LateCallsTest, WhatWasPutSinceIsNot) {
  LateCall call = make(both, 2);
  calls.begin(call, 5);
  EXPECT_TRUE(calls.is_anothers(&call, 6, handle(8)));
  EXPECT_FALSE(calls.is_anothers(nullptr, 6, handle(8)));
  calls.end(call);
}

// The first call has completed the request and has not looked yet. An operation without a
// continuation has got the handle, and a later call completes that.
TEST_F(LateCallsTest, WhatAnEarlierCallHasNotTakenIsNotTheLaterOnes) {
  LateCall first = make(both, 2), second = make(one, 1);
  calls.begin(first, 5);
  calls.begin(second, 6);
  EXPECT_TRUE(calls.is_anothers(&second, 4, handle(8)));
  EXPECT_TRUE(calls.is_anothers(nullptr, 4, handle(8)));
  EXPECT_FALSE(calls.is_anothers(&first, 4, handle(8)));
  calls.end(first);
  EXPECT_FALSE(calls.is_anothers(&second, 4, handle(8)));
  calls.end(second);
}

TEST_F(LateCallsTest, CallsAboutOtherHandlesHaveNoPart) {
  LateCall first = make(both + 1, 1), second = make(one, 1);
  calls.begin(first, 5);
  calls.begin(second, 6);
  EXPECT_FALSE(calls.is_anothers(&second, 4, handle(8)));
  EXPECT_FALSE(calls.is_anothers(nullptr, 4, handle(24)));
  calls.end(second);
  calls.end(first);
}

// They end in any order.
TEST_F(LateCallsTest, CallsThatHaveEndedHaveNoPart) {
  LateCall first = make(one, 1), second = make(one, 1), third = make(one, 1);
  calls.begin(first, 5);
  calls.begin(second, 6);
  calls.begin(third, 7);
  calls.end(second);
  EXPECT_TRUE(calls.is_anothers(&third, 4, handle(8)));
  calls.end(first);
  EXPECT_FALSE(calls.is_anothers(&third, 4, handle(8)));
  calls.end(third);
  EXPECT_FALSE(calls.is_anothers(nullptr, 4, handle(8)));
}

}  // namespace
}  // namespace thinwire::mpi
