// Requests that the library completes by itself. Who waits for one runs what completes it, or
// sleeps until a thread of the library has, instead of taking the processor that the thread needs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

// Who completes requests.
class Runner {
 public:
  Runner() = default;
  virtual ~Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Returns when the request is complete, which the caller may be made to work for.
  virtual void run_until_done(MPI_Request request) = 0;
};

// How many there are.
extern std::atomic<std::uint64_t> running_requests;

// From before the program has the handle until just before it is complete.
void add_running(MPI_Request request, std::shared_ptr<Runner> runner);
void remove_running(MPI_Request request);
bool is_running(MPI_Request request);

// Returns once none of these is running; the MPI's own wait takes the rest. For calls that wait for
// all of them.
void wait_for_running(int count, const MPI_Request* requests);
inline void wait_if_running(int count, const MPI_Request* requests) {
  if (running_requests.load(std::memory_order_relaxed) != 0) [[unlikely]]
    wait_for_running(count, requests);
}

}  // namespace thinwire::mpi
