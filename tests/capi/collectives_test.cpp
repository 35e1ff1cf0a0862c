#include <gtest/gtest.h>

#include "collectives_in_c.h"
#include "thinwire/thinwire.h"

namespace {

template <typename Struct>
Struct sized() {
  Struct made{};
  made.size = sizeof made;
  return made;
}

TEST(CollectivesInC, EveryOperationBetweenThreads) {
  for (const int ranks : {1, 2, 3, 4}) {
    EXPECT_STREQ(collectives_in_c(ranks), "") << ranks << " ranks";
  }
}

// A plan is used once, by the run that says that it was of its call. One that another thread may
// make meanwhile is not.
TEST(Collectives, APlanHoldsForTheNextRun) {
  auto end = sized<tw_transport>();
  ASSERT_EQ(tw_transport_local(1, &end), TW_OK);
  tw_codec *off = nullptr, *mpc = nullptr;
  ASSERT_EQ(tw_codec_create("off", &off), TW_OK);
  ASSERT_EQ(tw_codec_create("mpc", &mpc), TW_OK);
  const auto options = sized<tw_comm_options>();
  tw_comm* comm = nullptr;
  ASSERT_EQ(tw_comm_create(&end, &options, &comm), TW_OK);
  float value = 1;
  auto call = sized<tw_collective>();
  call.operation = TW_BCAST;
  call.dtype = TW_F32;
  call.receive = &value;
  call.count = 1;
  const auto reason_of_run = [&](uint32_t flags) {
    call.flags = flags;
    call.codec = mpc;
    auto report = sized<tw_collective_report>();
    EXPECT_EQ(tw_comm_run(comm, &call, &report), TW_OK) << tw_last_error();
    return report.reason;
  };
  const auto plan_of_another = [&](uint32_t flags = 0) {
    call.flags = flags;
    call.codec = off;
    auto report = sized<tw_collective_report>();
    EXPECT_EQ(tw_comm_plan(comm, &call, &report), TW_OK) << tw_last_error();
    EXPECT_EQ(report.reason, TW_RAW_OFF);
  };
  plan_of_another();
  EXPECT_EQ(reason_of_run(TW_PLANNED), TW_RAW_OFF);
  EXPECT_EQ(reason_of_run(TW_PLANNED), TW_RAW_SAME_NODE);
  plan_of_another(TW_AS_AGREED);
  EXPECT_EQ(reason_of_run(TW_PLANNED), TW_RAW_SAME_NODE);
  plan_of_another();
  EXPECT_EQ(reason_of_run(0), TW_RAW_SAME_NODE);
  EXPECT_EQ(reason_of_run(TW_PLANNED), TW_RAW_SAME_NODE);
  tw_comm_destroy(comm);
  tw_codec_destroy(mpc);
  tw_codec_destroy(off);
}

// Bytes are no numbers: they are the same or not.
TEST(Collectives, BytesAreVerified) {
  auto end = sized<tw_transport>();
  ASSERT_EQ(tw_transport_local(1, &end), TW_OK);
  const auto options = sized<tw_comm_options>();
  tw_comm* comm = nullptr;
  ASSERT_EQ(tw_comm_create(&end, &options, &comm), TW_OK);
  unsigned char sent[100] = {1, 2, 3}, received[100] = {};
  auto call = sized<tw_collective>();
  call.operation = TW_ALLGATHER;
  call.dtype = TW_BYTES;
  call.flags = TW_VERIFY;
  call.send = sent;
  call.receive = received;
  call.count = 100;
  auto report = sized<tw_collective_report>();
  EXPECT_EQ(tw_comm_run(comm, &call, &report), TW_OK) << tw_last_error();
  EXPECT_EQ(report.max_error, 0);
  EXPECT_EQ(received[2], 3);
  tw_comm_destroy(comm);
}

// A function that a call asks while it waits: ends it at the third time.
tw_status ends_at_third(void* context) {
  return ++*static_cast<int*>(context) < 3 ? TW_OK : TW_DAMAGED;
}

TEST(Collectives, TheCallerEndsAWait) {
  tw_transport ends[2] = {};
  ends[0].size = sizeof ends[0];
  ASSERT_EQ(tw_transport_local(2, ends), TW_OK);
  int asked = 0;
  auto options = sized<tw_comm_options>();
  options.interrupted = ends_at_third;
  options.interrupted_context = &asked;
  tw_comm* comm = nullptr;
  // The other rank never comes, and learns that this one has gone.
  EXPECT_EQ(tw_comm_create(&ends[0], &options, &comm), TW_DAMAGED);
  EXPECT_STREQ(tw_last_error(), "the caller ended the wait");
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(comm, nullptr);
  options.interrupted = nullptr;
  EXPECT_EQ(tw_comm_create(&ends[1], &options, &comm), TW_INTERNAL);
}

}  // namespace
