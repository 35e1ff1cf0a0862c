// thinwire.hpp over the shared library.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <thread>

#include "thinwire/thinwire.hpp"

namespace {

using thinwire::Codec;
using thinwire::Communicator;
using thinwire::Error;

constexpr int kRanks = 3;

std::vector<float> wave(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i) / 100);
  return values;
}

tw_status status_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    return error.status();
  }
  return TW_OK;
}

// Runs `body` as each rank of a group of threads.
void as_ranks(const std::function<void(Communicator&)>& body,
              const thinwire::CommunicatorOptions& options) {
  const auto ends = thinwire::local_transports(kRanks);
  std::vector<std::thread> threads;
  for (const tw_transport& end : ends) {
    threads.emplace_back([&] {
      Communicator communicator(end, options);
      body(communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CppLayer, ErrorsCarryStatusAndText) {
  try {
    Codec("zfp:rate=banana");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), TW_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find("banana"), std::string::npos) << error.what();
  }
}

TEST(CppLayer, RangesThereAndBack) {
  const auto values = wave(4000);
  const auto frame = thinwire::encode(Codec("lorenzo"), values);
  EXPECT_LT(frame.size(), 4 * values.size());
  EXPECT_EQ(thinwire::decode<float>(frame), values);
  EXPECT_EQ(status_of([&] { thinwire::decode<double>(frame); }), TW_INVALID_ARGUMENT);
  std::vector<float> less(values.size() - 1);
  EXPECT_EQ(status_of([&] { thinwire::decode(frame, std::as_writable_bytes(std::span(less))); }),
            TW_TOO_SMALL);

  // Values without a dtype count as bytes.
  const std::vector<std::uint16_t> words{1, 2, 3};
  EXPECT_EQ(thinwire::decode<std::uint16_t>(thinwire::encode(Codec("off"), words)), words);
}

TEST(CppLayer, OptionsReachTheCall) {
  const auto values = wave(4000);
  const auto frame = thinwire::encode(Codec("lorenzo"), values, {.job = "a job"});
  EXPECT_EQ(status_of([&] { thinwire::decode<float>(frame); }), TW_NOT_A_FRAME);
  EXPECT_EQ(thinwire::decode<float>(frame, {.job = "a job"}), values);
  const std::vector<float> infinite(64, INFINITY);
  const auto encode_or_decline = [&] {
    thinwire::encode(Codec("zfp:rate=8"), infinite, {.flags = TW_MESSAGE_DECLINE});
  };
  EXPECT_EQ(status_of(encode_or_decline), TW_DECLINED);
}

TEST(CppLayer, ScratchGoesBack) {
  auto before = thinwire::sized<tw_pool_counters>();
  auto after = before;
  thinwire::check(tw_pool_describe(TW_MEMORY_HOST, -1, &before));
  {
    const thinwire::Scratch scratch(TW_MEMORY_HOST, 1000);
    EXPECT_EQ(scratch.bytes().size(), 1000u);
    EXPECT_EQ(thinwire::place_of(scratch.data()).memory, std::uint32_t{TW_MEMORY_HOST});
  }
  thinwire::check(tw_pool_describe(TW_MEMORY_HOST, -1, &after));
  EXPECT_EQ(after.loans, before.loans + 1);
  EXPECT_EQ(after.loaned_bytes, before.loaned_bytes);
}

TEST(CppLayer, CollectivesOfThreads) {
  constexpr std::size_t kCount = 6000;
  const auto values = wave(kCount);
  const Codec codec("lorenzo");
  const auto body = [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    std::vector<float> got(kCount), all(kRanks * kCount), wide(kRanks * kCount);
    if (rank == 1) got = values;
    EXPECT_EQ(comm.bcast(got, 1).reason, std::uint32_t{TW_COMPRESS});
    EXPECT_EQ(got, values);

    comm.allgather(values, all);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], values[i % kCount]);

    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<float>(rank);
    comm.alltoall(wide, all);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<float>(i / kCount));

    comm.allreduce(values, got, TW_MAXIMUM);
    EXPECT_EQ(got, values);
    comm.reduce_scatter(wide, got);
    EXPECT_EQ(std::accumulate(got.begin(), got.end(), 0.0), 3.0 * kCount);
  };
  as_ranks(body, {.codec = &codec, .threshold = 0});
}

TEST(CppLayer, BuffersAreCheckedForRoom) {
  const auto body = [&](Communicator& comm) {
    const std::vector<float> mine(100);
    std::vector<float> all(100 * kRanks - 1);
    EXPECT_EQ(status_of([&] { comm.allgather(mine, all); }), TW_TOO_SMALL);
  };
  as_ranks(body, {});
}

// A transport that fails, and says so by an exception.
class Broken final : public thinwire::Transport {
 public:
  explicit Broken(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  ~Broken() override { --alive_; }
  std::int32_t rank() const override { return 0; }
  std::int32_t ranks() const override { return 2; }
  std::uint64_t send(std::int32_t, std::span<const std::byte>) override {
    throw Error(TW_DEVICE, "the cable is out");
  }
  std::uint64_t receive(std::int32_t, std::span<std::byte>) override { return 1; }
  void test(std::span<const std::uint64_t>, std::vector<Arrival>&) override {}

 private:
  std::atomic<int>& alive_;
};

TEST(CppLayer, TransportsFailByException) {
  std::atomic<int> alive{0};
  const auto make = [&] { Communicator(thinwire::table_of(std::make_unique<Broken>(alive))); };
  EXPECT_EQ(status_of(make), TW_DEVICE);
  EXPECT_EQ(alive, 0) << "the transport was not released";
  const std::vector<std::int32_t> nodes(3);
  const auto make_wrong = [&] {
    Communicator(thinwire::table_of(std::make_unique<Broken>(alive)), {.nodes = nodes});
  };
  EXPECT_EQ(status_of(make_wrong), TW_INVALID_ARGUMENT);
  EXPECT_EQ(alive, 0) << "the transport was not released";
}

}  // namespace
