// A key of attributes: made at its first use, and anew if the MPI has been started again.
#pragma once

#include <atomic>
#include <mutex>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

class Keyval {
 public:
  bool is_made() const { return get() != MPI_KEYVAL_INVALID; }

  // MPI_KEYVAL_INVALID before it is made.
  int get() const { return made_.load(std::memory_order_acquire); }

  // `create(&made)` makes it if there is none.
  template <typename Create>
  int get_or(Create&& create) {
    if (is_made()) return get();
    const std::lock_guard lock(mutex_);
    int made = get();
    if (made != MPI_KEYVAL_INVALID) return made;
    create(&made);
    made_.store(made, std::memory_order_release);
    return made;
  }

  // Before the MPI ends: `free(&made)` if there is one.
  template <typename Free>
  void release(Free&& free) {
    int made = made_.exchange(MPI_KEYVAL_INVALID);
    if (made != MPI_KEYVAL_INVALID) free(&made);
  }

 private:
  std::mutex mutex_;  // of those that make it
  std::atomic<int> made_{MPI_KEYVAL_INVALID};
};

}  // namespace thinwire::mpi
