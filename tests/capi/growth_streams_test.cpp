// Structs of collectives in stream order, smaller and larger than today's; fields not known.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "growth.h"
#include "thinwire/thinwire.h"

namespace {

tw_status nothing(void*) { return TW_OK; }
tw_status no_send(void*, int32_t, const void*, uint64_t, void*) { return TW_OK; }
tw_status no_receive(void*, int32_t, void*, uint64_t, void*) { return TW_OK; }

// At once: a stream on which nothing lies.
tw_status call_now(void*, void (*function)(void*), void* argument, void*) {
  function(argument);
  return TW_OK;
}

tw_stream_transport one_rank(int* released = nullptr) {
  tw_stream_transport end{};
  end.size = sizeof end;
  end.ranks = 1;
  end.context = released;
  end.begin_group = end.end_group = nothing;
  end.send = no_send;
  end.receive = no_receive;
  end.call = call_now;
  end.release = [](void* context) {
    if (context != nullptr) ++*static_cast<int*>(context);
  };
  return end;
}

tw_status try_create(const tw_stream_transport* transport, const tw_stream_comm_options* options) {
  tw_stream_comm* comm = nullptr;
  const tw_status status = tw_stream_comm_create(transport, options, &comm);
  tw_stream_comm_destroy(comm);
  return status;
}

// A communicator of one rank, and an Allreduce on it.
struct One {
  One() {
    const tw_stream_transport end = one_rank();
    EXPECT_EQ(tw_stream_comm_create(&end, nullptr, &comm), TW_OK) << tw_last_error();
    options.size = sizeof options;
    options.operation = TW_STREAM_ALLREDUCE;
    options.dtype = TW_F32;
    options.count = 100;
    options.capacity[0] = 512;
    EXPECT_EQ(tw_stream_plan_create(comm, &options, &plan), TW_OK) << tw_last_error();
    call.size = sizeof call;
    call.plan = plan;
    call.send = call.receive = values.data();
    call.record = record;
  }
  ~One() {
    tw_stream_plan_destroy(plan);
    tw_stream_comm_destroy(comm);
  }
  tw_status try_plan(const tw_stream_plan_options* with) const {
    tw_stream_plan* made = nullptr;
    const tw_status status = tw_stream_plan_create(comm, with, &made);
    tw_stream_plan_destroy(made);
    return status;
  }

  tw_stream_comm* comm = nullptr;
  tw_stream_plan_options options{};
  tw_stream_plan* plan = nullptr;
  std::vector<float> values = std::vector<float>(100, 3);
  alignas(64) unsigned char record[1024] = {};
  tw_stream_call call{};
};

// Makes a transport over CUDA streams.
tw_status with_gpu() {
  uint32_t devices = 0;
  return tw_device_count(&devices);
}

TEST(StreamGrowth, TransportsAndOptions) {
  const tw_stream_transport end = one_rank();
  expect_input_grows<tw_stream_transport>("tw_stream_transport", end,
                                          [](auto* other) { return try_create(other, nullptr); });
  const Sized<tw_stream_transport> without_release(offsetof(tw_stream_transport, release), end);
  EXPECT_EQ(try_create(without_release.get(), nullptr), TW_OK) << tw_last_error();
  // Without `call` it is one of CUDA streams.
  const Sized<tw_stream_transport> without_call(offsetof(tw_stream_transport, call), end);
  EXPECT_EQ(try_create(without_call.get(), nullptr), with_gpu());

  tw_stream_comm_options options{};
  options.size = sizeof options;
  expect_input_grows<tw_stream_comm_options>("tw_stream_comm_options", options,
                                             [&](auto* other) { return try_create(&end, other); });
  const Sized<tw_stream_comm_options> shorter(offsetof(tw_stream_comm_options, codec), options);
  EXPECT_EQ(try_create(&end, shorter.get()), TW_OK) << tw_last_error();
}

TEST(StreamGrowth, ATableIsReleasedOnceUnlessItIsRefusedItself) {
  int released = 0;
  tw_stream_transport end = one_rank(&released);
  EXPECT_EQ(try_create(&end, nullptr), TW_OK);
  EXPECT_EQ(released, 1);
  end.call = nullptr;
  EXPECT_EQ(try_create(&end, nullptr), with_gpu());
  EXPECT_EQ(released, 2);
  for (auto* const field : {&end.begin_group, &end.end_group}) {
    *field = nullptr;
    EXPECT_EQ(try_create(&end, nullptr), TW_INVALID_ARGUMENT);
    *field = nothing;
  }
  end.rank = 1;
  EXPECT_EQ(try_create(&end, nullptr), TW_INVALID_ARGUMENT);
  EXPECT_EQ(released, 2);
}

TEST(StreamGrowth, PlansAndCalls) {
  One one;
  expect_input_grows<tw_stream_plan_options>("tw_stream_plan_options", one.options,
                                             [&](auto* other) { return one.try_plan(other); });
  const Sized<tw_stream_plan_options> shorter(offsetof(tw_stream_plan_options, way), one.options);
  EXPECT_EQ(one.try_plan(shorter.get()), TW_OK) << tw_last_error();
  expect_output_grows<tw_stream_plan_info>(
      "tw_stream_plan_info", [&](auto* out) { return tw_stream_plan_describe(one.plan, out); });
  expect_input_grows<tw_stream_call>("tw_stream_call", one.call,
                                     [](auto* other) { return tw_stream_enqueue(other, 1); });
  expect_output_grows<tw_stream_report>(
      "tw_stream_report", [&](auto* out) { return tw_stream_check(one.plan, one.record, out); });
  EXPECT_EQ(one.values, std::vector<float>(100, 3));
}

TEST(StreamGrowth, ChunksOfMailboxes) {
  alignas(64) static unsigned char mailbox[2048];
  ASSERT_EQ(tw_mailbox_open(mailbox, sizeof mailbox), TW_OK);
  expect_output_grows<tw_mailbox_chunk>(
      "offered", [&](auto* out) { return tw_mailbox_offered(mailbox, out); });
  expect_output_grows<tw_mailbox_chunk>("wanted",
                                        [&](auto* out) { return tw_mailbox_wanted(mailbox, out); });
}

TEST(StreamGrowth, CallsStepByTheCallersSize) {
  One one;
  One other;
  constexpr std::uint32_t kSize = sizeof(tw_stream_call) + 16;
  std::vector<unsigned char> bytes(2 * std::size_t{kSize});
  for (std::uint32_t at = 0; at < 2; ++at) {
    tw_stream_call call = at == 0 ? one.call : other.call;
    call.size = kSize;
    std::memcpy(bytes.data() + at * std::size_t{kSize}, &call, sizeof call);
  }
  auto* const calls = reinterpret_cast<tw_stream_call*>(bytes.data());
  EXPECT_EQ(tw_stream_enqueue(calls, 2), TW_OK) << tw_last_error();
  tw_stream_report report{};
  report.size = sizeof report;
  EXPECT_EQ(tw_stream_check(other.plan, other.record, &report), TW_OK);
  EXPECT_EQ(report.complete, 1U);
}

TEST(StreamGrowth, WrongOptionsAreRefusedWithASentence) {
  One one;
  using Change = void (*)(tw_stream_plan_options&);
  const struct {
    Change change;
    tw_status status;
  } wrong[] = {
      {[](auto& with) { with.operation = 10; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.dtype = 7; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.way = 3; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.flags = 16; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.flags = 3; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.flags = TW_STREAM_TRIAL_RESULT; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.reserved = 1; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.capacity[0] = 0; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.capacity[1] = 513; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.count = UINT64_MAX / 8; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.operation = TW_STREAM_BCAST, with.peer = 1; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.operation = TW_STREAM_SEND; }, TW_INVALID_ARGUMENT},
      {[](auto& with) { with.dtype = TW_BYTES; }, TW_UNSUPPORTED},
      {[](auto& with) { with.reduction = TW_MAXIMUM; }, TW_UNSUPPORTED},
  };
  for (std::size_t at = 0; at < std::size(wrong); ++at) {
    tw_stream_plan_options with = one.options;
    wrong[at].change(with);
    EXPECT_EQ(one.try_plan(&with), wrong[at].status) << at;
    EXPECT_STRNE(tw_last_error(), "");
  }
  for (const char* const spec : {"off", "szp:allreduce-rel=1e-3"}) {
    tw_codec* codec = nullptr;
    ASSERT_EQ(tw_codec_create(spec, &codec), TW_OK) << tw_last_error();
    tw_stream_plan_options with = one.options;
    with.codec = codec;
    with.operation = TW_STREAM_ALLGATHER;
    EXPECT_EQ(one.try_plan(&with), TW_UNSUPPORTED) << spec;
    tw_codec_destroy(codec);
  }
}

// While a call is not complete its check asks the transport; then its record says all.
TEST(StreamGrowth, TheTransportsFailureIsToldByCallsThatWait) {
  struct Later {
    void (*function)(void*) = nullptr;
    void* argument = nullptr;
  } later;
  tw_stream_transport end = one_rank();
  end.release = nullptr;
  end.context = &later;
  end.check = [](void*) { return TW_DEVICE; };
  end.call = [](void* context, void (*function)(void*), void* argument, void*) {
    *static_cast<Later*>(context) = {function, argument};
    return TW_OK;
  };
  tw_stream_comm* comm = nullptr;
  ASSERT_EQ(tw_stream_comm_create(&end, nullptr, &comm), TW_OK) << tw_last_error();
  const One one;
  tw_stream_plan* plan = nullptr;
  ASSERT_EQ(tw_stream_plan_create(comm, &one.options, &plan), TW_OK);
  tw_stream_call call = one.call;
  call.plan = plan;
  ASSERT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
  tw_stream_report report{};
  report.size = sizeof report;
  EXPECT_EQ(tw_stream_check(plan, call.record, &report), TW_DEVICE);
  EXPECT_EQ(report.complete, 0U);
  later.function(later.argument);
  EXPECT_EQ(tw_stream_check(plan, call.record, &report), TW_OK);
  EXPECT_EQ(report.complete, 1U);
  tw_stream_plan_destroy(plan);
  tw_stream_comm_destroy(comm);
}

// A second thread is told while the first is in its transport, whatever else is in its group;
// after that the communicator is free.
TEST(StreamThreads, TwoThatEnqueueOnOneCommunicatorAreAnError) {
  static std::atomic<int> inside;
  static std::atomic<bool> may_go;
  inside = 0, may_go = false;
  tw_stream_transport end = one_rank();
  end.call = [](void*, void (*function)(void*), void* argument, void*) {
    ++inside;
    while (!may_go) std::this_thread::yield();
    function(argument);
    return TW_OK;
  };
  tw_stream_comm* comm = nullptr;
  ASSERT_EQ(tw_stream_comm_create(&end, nullptr, &comm), TW_OK) << tw_last_error();
  const One one, two, free;
  tw_stream_plan* plan = nullptr;
  ASSERT_EQ(tw_stream_plan_create(comm, &one.options, &plan), TW_OK) << tw_last_error();
  tw_stream_call first[] = {one.call, two.call};  // two of one communicator are one group
  first[0].plan = first[1].plan = plan;
  tw_status status = TW_INTERNAL;
  std::thread other([&] { status = tw_stream_enqueue(first, 2); });
  while (inside == 0) std::this_thread::yield();
  tw_stream_call second[] = {free.call, first[0]};
  std::uint32_t stages = 0;
  EXPECT_EQ(tw_stream_enqueue(second, 2), TW_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tw_last_error()).find("another thread"), std::string::npos);
  EXPECT_EQ(tw_stream_enqueue_stage(second, 2, 0, &stages), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_stream_enqueue(second, 1), TW_OK) << tw_last_error();
  may_go = true;
  other.join();
  EXPECT_EQ(status, TW_OK);
  EXPECT_EQ(tw_stream_enqueue(second, 2), TW_OK) << tw_last_error();
  tw_stream_plan_destroy(plan);
  tw_stream_comm_destroy(comm);
}

TEST(StreamGrowth, CallsThatLackSomethingAreRefused) {
  One one;
  using Change = void (*)(tw_stream_call&);
  const Change wrong[] = {
      [](auto& call) { call.plan = nullptr; },
      [](auto& call) { call.send = nullptr; },
      [](auto& call) { call.receive = nullptr; },
      [](auto& call) { call.record = nullptr; },
      [](auto& call) { call.reserved = 1; },
      [](auto& call) { call.record = static_cast<char*>(call.record) + 8; },
      [](auto& call) { call.workspace = reinterpret_cast<char*>(128); },
      [](auto& call) { call.clears_workspace = 2; },
  };
  for (const Change& change : wrong) {
    tw_stream_call call = one.call;
    change(call);
    EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_INVALID_ARGUMENT);
  }
  EXPECT_EQ(tw_stream_enqueue(nullptr, 1), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_stream_enqueue(nullptr, 0), TW_OK);
  EXPECT_EQ(tw_stream_check(one.plan, nullptr, nullptr), TW_INVALID_ARGUMENT);
}

}  // namespace
