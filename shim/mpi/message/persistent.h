// Persistent requests: the user holds a token, each start is an operation of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "shim/mpi/message/handle_filter.h"
#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

class Persistent {
 public:
  Persistent() = default;
  virtual ~Persistent() = default;
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;

  // Starts the operation; its request is in `active`. Returns what went wrong, raised.
  virtual int start() = 0;

  // The program has freed the token: the operation goes on, and nobody will ask for its end. Makes
  // no progress on orphans, which may raise errors.
  virtual int free_active();

  // The request of the operation that was started last; MPI_REQUEST_NULL when inactive.
  MPI_Request active = MPI_REQUEST_NULL;

 protected:
  // For free_active() where the operation uses what ends with this. Its outcome is dropped: only
  // inactive requests may be freed.
  int wait_for_active();
};

extern std::atomic<std::uint64_t> live_persistent;
extern HandleFilter persistent_requests;

// `token` is a persistent request of the MPI's own, of which nobody else has the handle.
void add_persistent(MPI_Request token, std::unique_ptr<Persistent> persistent);

// nullptr for a request that is no such token. The entry stays until MPI_Request_free.
Persistent* find_persistent(MPI_Request token);

// The same for as many requests as `found` has places. Returns how many are such tokens.
std::size_t find_persistent(const MPI_Request* requests, std::span<Persistent*> found);
std::unique_ptr<Persistent> take_persistent(MPI_Request token);

}  // namespace thinwire::mpi
