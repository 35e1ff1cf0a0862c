// A communicator's end on one rank.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "abi/nccl_abi.h"
#include "exchange.h"
#include "own_sums.h"

struct ncclComm {
  int rank = 0;
  int ranks = 0;
  std::uint64_t id = 0;  // names its segment
  std::uint64_t splits = 0;
  std::map<std::vector<int>, std::uint64_t> shrinks;  // by the ranks that were lost
  std::atomic<bool> finalized{false};
  bool blocking = true;
  fake_nccl::Segment* segment = nullptr;
  std::atomic<int> error{ncclSuccess};  // ncclInProgress while it is being made
  std::atomic<bool> given_up{false};
  fake_nccl::OwnSums own_sums;  // under the mutex

  // The calls on a communicator run in the order in which they were made, on whichever streams.
  std::mutex mutex;
  std::condition_variable turned;
  std::uint64_t called = 0;
  std::uint64_t turn = 0;
};

namespace fake_nccl {

using Body = std::function<void(Exchange&)>;

// Waits for the other ranks.
ncclResult_t open(ncclComm& comm);

// Runs on the stream, behind what is on it and on the communicator. `before` names the messages,
// `after` is done once they are through.
void enqueue(ncclComm_t comm, cudaStream_t stream, Body before, std::function<void()> after);

// The same at once, on the caller's thread; for what a communicator is asked by the host.
ncclResult_t run_now(ncclComm_t comm, const Body& before);

void wait_for_calls(ncclComm_t comm);

// The caller's error where the communicator has one.
ncclResult_t usable(ncclComm_t comm);

}  // namespace fake_nccl
