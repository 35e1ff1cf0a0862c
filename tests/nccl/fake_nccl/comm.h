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

#include "exchange.h"
#include "native/nccl_abi.h"
#include "reduce.h"

struct ncclComm {
  int rank = 0;
  int ranks = 0;
  std::uint64_t id = 0;  // names its segment
  std::uint64_t splits = 0;
  std::map<std::vector<int>, std::uint64_t> shrinks;  // by the ranks that were lost
  std::uint64_t grows = 0;
  std::atomic<bool> finalized{false}, revoked{false}, suspended{false};
  bool blocking = true;
  fake_nccl::Segment* segment = nullptr;
  std::atomic<int> error{ncclSuccess};  // ncclInProgress while it is being made
  std::atomic<bool> given_up{false};
  std::atomic<int> jobs{0};     // of threads of its own, if calls do not block
  fake_nccl::OwnSums own_sums;  // under the mutex

  // The calls on a communicator run in the order in which they were made, on whichever streams.
  std::mutex mutex;
  std::condition_variable turned;
  std::uint64_t called = 0;
  std::uint64_t turn = 0;
};

namespace fake_nccl {

using Body = std::function<void(Exchange&)>;

// Waits for the other ranks, until it or `parent` is given up.
ncclResult_t open(ncclComm& comm, const ncclComm* parent = nullptr);

// Runs on the stream, after what is on it and on the communicator. `before` names the messages,
// `after` is done after they are through.
void enqueue(ncclComm_t comm, cudaStream_t stream, Body before, std::function<void()> after);

// The same at once, on the caller's thread; for what a communicator is asked by the host.
ncclResult_t run_now(ncclComm_t comm, const Body& before);

// Does `work` later, on a thread of its own, as calls on communicators that do not block are: these
// are ncclInProgress meanwhile, and then what comes of it. ncclInProgress.
ncclResult_t do_later(std::vector<ncclComm_t> comms, std::function<ncclResult_t()> work);
void wait_for_jobs(ncclComm_t comm);

void wait_for_calls(ncclComm_t comm);

// From when the program has its handle to its end; what has ended NCCL finds out, too.
void begin_life(ncclComm_t comm);
void end_life(ncclComm_t comm);
bool is_alive(ncclComm_t comm);

// The caller's error if the communicator has one.
ncclResult_t usable(ncclComm_t comm);
// The same for a call that moves data, or makes or ends communicators: on one that does not block
// it fails for good if the call before has not been seen to succeed.
ncclResult_t usable_now(ncclComm_t comm);

}  // namespace fake_nccl
