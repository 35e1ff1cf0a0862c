// Ranks in threads, each with a communicator.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "codec/spec.h"
#include "comm/communicator.h"
#include "transport/local/local.h"

namespace thinwire::comm {

inline codec::Spec spec_of(const std::string& text) {
  const auto spec = codec::parse_spec(text);
  EXPECT_TRUE(spec.ok()) << text << ": " << spec.status().message();
  return *spec;
}

using Body = std::function<void(Communicator&)>;
using MakeOptions = std::function<Options(int rank)>;

// Runs `body` once a rank; failures to make a communicator fail the test.
inline void run_ranks(int size, const MakeOptions& options_of, const Body& body) {
  auto ends = transport::make_local(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      auto made =
          Communicator::create(std::move(ends[static_cast<std::size_t>(rank)]), options_of(rank));
      if (!made.ok()) {
        ADD_FAILURE() << made.status().message();
        return;
      }
      body(**made);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

inline void run_ranks(int size, const Options& options, const Body& body) {
  run_ranks(size, [&](int) { return options; }, body);
}

}  // namespace thinwire::comm
