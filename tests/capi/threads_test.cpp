// Threads that share a codec and the library, as the C ABI allows; the thread sanitizer watches.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 40;

template <typename Work>
void on_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
}

// Encodes and decodes an array of its own; returns how often something was wrong.
int exchange(const tw_codec* codec, const tw_codec_info& info, int number) {
  tw_shape shape{};
  while ((info.dtypes >> shape.dtype & 1) == 0) ++shape.dtype;
  shape.rank = 1;
  shape.extent[0] = 3000 + static_cast<std::uint64_t>(number);
  std::uint64_t most = 0;
  if (tw_message_bound(codec, &shape, &most) != TW_OK) return 1;
  std::vector<unsigned char> values(8 * shape.extent[0], static_cast<unsigned char>(number));
  std::vector<unsigned char> frame(most), out(values.size());
  std::uint64_t length = 0;
  int wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    tw_message_info read{};
    read.size = sizeof read;
    wrong += tw_message_encode(codec, &shape, values.data(), frame.data(), most, nullptr,
                               &length) != TW_OK;
    wrong +=
        tw_message_decode(frame.data(), length, out.data(), out.size(), nullptr, &read) != TW_OK;
    wrong += info.lossless != 0 && std::memcmp(out.data(), values.data(), read.raw_bytes) != 0;
  }
  return wrong;
}

TEST(Threads, ShareACodec) {
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    ASSERT_EQ(tw_codec_describe(index, &info), TW_OK);
    if (info.gpu_only != 0) continue;
    SCOPED_TRACE(info.name);
    tw_codec* codec = nullptr;
    ASSERT_EQ(tw_codec_create(info.example, &codec), TW_OK);
    std::vector<int> wrong(kThreads, 0);
    on_threads([&](int number) { wrong[number] = exchange(codec, info, number); });
    for (const int count : wrong) EXPECT_EQ(count, 0);
    tw_codec_destroy(codec);
  }
}

TEST(Threads, HaveLastErrorsOfTheirOwn) {
  std::vector<int> wrong(kThreads, 0);
  on_threads([&](int number) {
    const std::string name = "nocodec" + std::to_string(number);
    for (int round = 0; round < kRounds; ++round) {
      tw_codec* codec = nullptr;
      wrong[number] += tw_codec_create(name.c_str(), &codec) != TW_INVALID_ARGUMENT;
      tw_log(TW_LOG_DEBUG, name.c_str());
      wrong[number] += std::strstr(tw_last_error(), name.c_str()) == nullptr;
    }
  });
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

TEST(Threads, ReadPlansAndTextsTogether) {
  std::vector<int> wrong(kThreads, 0);
  on_threads([&](int number) {
    for (int round = 0; round < kRounds; ++round) {
      std::uint64_t bytes = 0;
      double rate = 0;
      wrong[number] += tw_size_parse("64KiB", &bytes) != TW_OK || bytes != 65536;
      wrong[number] += tw_link_rate_parse("1gbit", &rate) != TW_OK || rate != 125e6;
      wrong[number] += std::strlen(tw_status_text(TW_DAMAGED)) == 0;
      wrong[number] += std::strlen(tw_reason_text(TW_RAW_SHAPE)) == 0;
    }
  });
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

// One rank: a thread that runs collectives and one that plans meanwhile, waiting for nobody.
// Returns how often something was wrong.
int plan_beside_runs(const tw_transport& end, const tw_comm_options& options) {
  tw_comm* comm = nullptr;
  if (tw_comm_create(&end, &options, &comm) != TW_OK) return 1;
  std::vector<float> values(1 << 15, static_cast<float>(end.rank));
  tw_collective call{};
  call.size = sizeof call;
  call.operation = TW_BCAST;
  call.dtype = TW_F32;
  call.receive = values.data();
  call.count = values.size();
  call.flags = TW_AS_AGREED;
  const auto reason = [&] {
    tw_collective_report report{};
    report.size = sizeof report;
    return tw_comm_plan(comm, &call, &report) == TW_OK ? report.reason
                                                       : std::uint32_t{TW_REASON_COUNT};
  };
  const auto run_and_plan = [&](std::uint32_t expected) {
    int wrong = 0, failed = 0;
    std::thread runs([&] {
      for (int round = 0; round < kRounds; ++round) {
        failed += tw_comm_run(comm, &call, nullptr) != TW_OK;
      }
    });
    for (int round = 0; round < kRounds; ++round) wrong += reason() != expected;
    runs.join();
    return wrong + failed;
  };
  int wrong = run_and_plan(TW_RAW_COST_UNKNOWN);
  wrong += tw_comm_settle(comm) != TW_OK;
  wrong += run_and_plan(TW_COMPRESS);
  for (const float value : values) wrong += value != 0;
  tw_comm_destroy(comm);
  return wrong;
}

TEST(Threads, PlanWhileACollectiveRuns) {
  tw_transport ends[kThreads] = {};
  for (tw_transport& end : ends) end.size = sizeof end;
  ASSERT_EQ(tw_transport_local(kThreads, ends), TW_OK);
  tw_comm_options options{};
  options.size = sizeof options;
  options.link_bytes_per_second = 1e5;
  tw_codec* codec = nullptr;
  ASSERT_EQ(tw_codec_create("mpc", &codec), TW_OK);
  options.codec = codec;
  std::vector<int> wrong(kThreads, 0);
  on_threads([&](int number) { wrong[number] = plan_beside_runs(ends[number], options); });
  for (const int count : wrong) EXPECT_EQ(count, 0);
  tw_codec_destroy(codec);
}

// Whether a call on one end is refused while another thread waits in one for the other rank.
TEST(Threads, TwoOnOneEndAreAnError) {
  tw_transport ends[2] = {};
  for (tw_transport& end : ends) end.size = sizeof end;
  ASSERT_EQ(tw_transport_local(2, ends), TW_OK);
  tw_comm* comms[2] = {};
  tw_comm_options options{};
  options.size = sizeof options;
  std::thread other([&] { EXPECT_EQ(tw_comm_create(&ends[1], &options, &comms[1]), TW_OK); });
  ASSERT_EQ(tw_comm_create(&ends[0], &options, &comms[0]), TW_OK);
  other.join();
  const auto run = [&](int rank) {
    float value = 1, sum = 0;
    tw_collective call{};
    call.size = sizeof call;
    call.operation = TW_ALLREDUCE;
    call.dtype = TW_F32;
    call.send = &value;
    call.receive = &sum;
    call.count = 1;
    const tw_status status = tw_comm_run(comms[rank], &call, nullptr);
    if (status != TW_OK) {
      EXPECT_NE(std::strstr(tw_last_error(), "another thread"), nullptr);
    }
    return status;
  };
  // One of the two waits for rank 1, which comes after the other one has been refused.
  std::atomic<int> refused = 0;
  std::vector<std::thread> two;
  for (int number = 0; number < 2; ++number) {
    two.emplace_back([&] { refused += run(0) == TW_INVALID_ARGUMENT; });
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (refused == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(run(1), TW_OK);
  if (refused == 0) run(1);  // so that the test ends
  for (std::thread& thread : two) thread.join();
  EXPECT_EQ(refused, 1);
  for (tw_comm* comm : comms) tw_comm_destroy(comm);
}

}  // namespace
