// Handles that are used or destroyed after they were destroyed: an error, or nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include <string>
#include <thread>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

tw_codec* codec_of(const char* spec) {
  tw_codec* codec = nullptr;
  EXPECT_EQ(tw_codec_create(spec, &codec), TW_OK) << tw_last_error();
  return codec;
}

tw_codec* closed_codec() {
  tw_codec* const codec = codec_of("mpc");
  tw_codec_destroy(codec);
  return codec;
}

tw_costs* table() {
  const std::string text = std::string("thinwire-costs 1\nmachine: ") + tw_machine() +
                           "\nversion: " + tw_version() +
                           "\nmpc:stride=1 f32 1048576 host 4e5 8e5 1.001\nend 1\n";
  tw_costs* costs = nullptr;
  EXPECT_EQ(tw_costs_create(text.c_str(), "table", &costs), TW_OK) << tw_last_error();
  return costs;
}

tw_status create(tw_comm_options options, tw_comm** comm) {
  tw_transport end{};
  end.size = sizeof end;
  EXPECT_EQ(tw_transport_local(1, &end), TW_OK) << tw_last_error();
  options.size = sizeof options;
  return tw_comm_create(&end, &options, comm);
}

TEST(Handles, ADestroyedCodecIsRefusedByItself) {
  const tw_codec* const closed = closed_codec();
  const tw_shape shape{TW_F32, 1, {4}};
  const float values[4] = {};
  unsigned char frame[1024];
  uint64_t bytes = 0;
  EXPECT_EQ(tw_message_encode(closed, &shape, values, frame, sizeof frame, nullptr, &bytes),
            TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_message_bound(closed, &shape, &bytes), TW_INVALID_ARGUMENT);
  EXPECT_STREQ(tw_codec_spec(closed), "");
  EXPECT_EQ(tw_codec_id(closed), -1);
  EXPECT_EQ(tw_codec_ids(closed, nullptr, 0), 0u);
}

TEST(Handles, ToDestroyOneTwiceDoesNothingAndIsSaid) {
  tw_codec* const closed = closed_codec();
  tw_codec* const other = codec_of("lorenzo");
  tw_codec_destroy(closed);
  EXPECT_STREQ(tw_last_error(), "tw_codec_destroy: the codec is destroyed already");
  EXPECT_STREQ(tw_codec_spec(other), "lorenzo:tuple=1");
  tw_codec_destroy(other);
}

TEST(Handles, NoHandleComesBackUntilManyMoreAreDestroyed) {
  tw_codec* const closed = closed_codec();
  for (int more = 0; more < 256; ++more) {
    tw_codec* const other = codec_of("mpc");
    ASSERT_NE(other, closed) << more;
    ASSERT_EQ(tw_codec_id(closed), -1) << more;
    tw_codec_destroy(other);
  }
}

TEST(Handles, TheirMemoryIsUsedAgain) {
  std::vector<const tw_codec*> seen;
  for (int number = 0; number < 2000; ++number) {
    tw_codec* const codec = codec_of("mpc");
    if (std::ranges::find(seen, codec) == seen.end()) seen.push_back(codec);
    tw_codec_destroy(codec);
  }
  EXPECT_LE(seen.size(), 600u);
}

TEST(Handles, OfTwoThreadsThatDestroyOneHandleOneDoes) {
  for (int number = 0; number < 200; ++number) {
    tw_codec* const codec = codec_of("mpc");
    std::thread other([&] { tw_codec_destroy(codec); });
    tw_codec_destroy(codec);
    other.join();
    EXPECT_EQ(tw_codec_id(codec), -1);
  }
}

TEST(Handles, DestroyedOnesInStructsAreRefused) {
  tw_comm* comm = nullptr;
  tw_comm_options options{};
  options.codec = closed_codec();
  EXPECT_EQ(create(options, &comm), TW_INVALID_ARGUMENT);
  tw_costs* const costs = table();
  tw_costs_destroy(costs);
  options.codec = nullptr;
  options.costs = costs;
  EXPECT_EQ(create(options, &comm), TW_INVALID_ARGUMENT);

  ASSERT_EQ(create({}, &comm), TW_OK) << tw_last_error();
  float value = 1;
  tw_collective call{};
  call.size = sizeof call;
  call.operation = TW_BCAST;
  call.dtype = TW_F32;
  call.receive = &value;
  call.count = 1;
  EXPECT_EQ(tw_comm_run(comm, &call, nullptr), TW_OK) << tw_last_error();
  call.codec = closed_codec();
  EXPECT_EQ(tw_comm_run(comm, &call, nullptr), TW_INVALID_ARGUMENT);
  call.codec = nullptr;
  tw_comm_destroy(comm);
  EXPECT_EQ(tw_comm_run(comm, &call, nullptr), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_comm_rank(comm), -1);
  tw_comm_destroy(comm);
}

TEST(Handles, ACommunicatorKeepsItsTableOfCosts) {
  tw_codec* const codec = codec_of("mpc");
  tw_costs* const costs = table();
  tw_comm_options options{};
  options.codec = codec;
  options.costs = costs;
  options.link_bytes_per_second = 1e6;
  tw_comm* comm = nullptr;
  ASSERT_EQ(create(options, &comm), TW_OK) << tw_last_error();
  tw_costs_destroy(costs);
  tw_codec_destroy(codec);
  std::vector<float> values(1 << 18, 1.0f);
  tw_collective call{};
  call.size = sizeof call;
  call.operation = TW_BCAST;
  call.dtype = TW_F32;
  call.receive = values.data();
  call.count = values.size();
  EXPECT_EQ(tw_comm_run(comm, &call, nullptr), TW_OK) << tw_last_error();
  tw_comm_destroy(comm);
}

// A communicator of one rank whose streams are the caller's thread.
tw_stream_comm* stream_comm(const tw_codec* codec, tw_status expected) {
  tw_stream_transport end{};
  end.size = sizeof end;
  end.ranks = 1;
  end.begin_group = end.end_group = [](void*) { return TW_OK; };
  end.send = [](void*, int32_t, const void*, uint64_t, void*) { return TW_OK; };
  end.receive = [](void*, int32_t, void*, uint64_t, void*) { return TW_OK; };
  end.call = [](void*, void (*function)(void*), void* argument, void*) {
    function(argument);
    return TW_OK;
  };
  tw_stream_comm_options options{};
  options.size = sizeof options;
  options.codec = codec;
  tw_stream_comm* comm = nullptr;
  EXPECT_EQ(tw_stream_comm_create(&end, &options, &comm), expected) << tw_last_error();
  return comm;
}

tw_stream_plan_options planned() {
  tw_stream_plan_options options{};
  options.size = sizeof options;
  options.operation = TW_STREAM_ALLREDUCE;
  options.dtype = TW_F32;
  options.count = 100;
  options.capacity[0] = 512;
  return options;
}

TEST(Handles, OfStreamsAreRefusedToo) {
  EXPECT_EQ(stream_comm(closed_codec(), TW_INVALID_ARGUMENT), nullptr);
  tw_stream_comm* const comm = stream_comm(nullptr, TW_OK);
  tw_stream_plan_options options = planned();
  tw_stream_plan *plan = nullptr, *kept = nullptr;
  options.codec = closed_codec();
  EXPECT_EQ(tw_stream_plan_create(comm, &options, &plan), TW_INVALID_ARGUMENT);
  options.codec = nullptr;
  ASSERT_EQ(tw_stream_plan_create(comm, &options, &plan), TW_OK) << tw_last_error();
  ASSERT_EQ(tw_stream_plan_create(comm, &options, &kept), TW_OK) << tw_last_error();

  std::vector<float> values(100, 3);
  alignas(64) unsigned char record[1024] = {};
  tw_stream_call call{};
  call.size = sizeof call;
  call.plan = plan;
  call.send = call.receive = values.data();
  call.record = record;
  tw_stream_report told{};
  told.size = sizeof told;
  EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
  EXPECT_EQ(tw_stream_check(plan, record, &told), TW_OK) << tw_last_error();
  tw_stream_plan_destroy(plan);
  EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_stream_check(plan, record, &told), TW_INVALID_ARGUMENT);
  tw_stream_plan_destroy(plan);

  // The other plan is there, but its communicator is not.
  tw_stream_comm_destroy(comm);
  call.plan = kept;
  EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_stream_check(kept, record, &told), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_stream_plan_create(comm, &options, &plan), TW_INVALID_ARGUMENT);
  tw_stream_plan_destroy(kept);
  tw_stream_comm_destroy(comm);
}

}  // namespace
