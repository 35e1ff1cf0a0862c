// A rank with a communicator, a stream and a mailbox, for tests that make many calls.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "calls.h"

namespace thinwire::slots {

// Runs `body` once a rank, at the same time.
inline void on_ranks(int ranks, const std::function<void(int rank)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(body, rank);
  for (std::thread& thread : threads) thread.join();
}

struct Member {
  Member(World& world, int rank, const std::string& spec = "mpc")
      : codec(spec), comm(make_comm(world, rank)), mailbox(16 * 1024) {}

  Plan plan(std::uint32_t operation, std::uint64_t count,
            const std::function<void(tw_stream_plan_options&)>& change = {}) {
    auto options = options_of(operation, TW_F32, count, codec.handle.get());
    if (change) change(options);
    return make_plan(comm, options);
  }

  // A call with memory of its own for all but the mailbox.
  tw_stream_call call(const Plan& of, const Lent& lent, std::uint64_t number, const void* send,
                      void* receive) {
    tw_stream_call made{};
    made.size = sizeof made;
    made.plan = of.get();
    made.number = number;
    made.send = send;
    made.receive = receive;
    made.mailbox = mailbox.memory;
    lent.lend(made);
    made.stream = &stream;
    return made;
  }

  void enqueue(const tw_stream_call& call) {
    EXPECT_EQ(tw_stream_enqueue(&call, 1), TW_OK) << tw_last_error();
  }

  Codec codec;
  Comm comm;
  Mailbox mailbox;
  Stream stream;  // ends before what its work uses
};

inline bool all_nan(const std::byte* at, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, at + i * sizeof value, sizeof value);
    if (value == value) return false;
  }
  return true;
}

inline bool same(const std::byte* at, const Bytes& expected) {
  return std::memcmp(at, expected.data(), expected.size()) == 0;
}

}  // namespace thinwire::slots
