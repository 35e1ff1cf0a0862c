// Memory that the program has registered as windows of symmetric memory on one communicator. NCCL
// has kernels and copy engines of its own for calls there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "native/nccl_abi.h"

namespace thinwire::nccl {

class Windows {
 public:
  // NCCL has taken a registration. Its handle, without which there is no window, NCCL writes to
  // `handle`: before the call returns, at the group's end, or before the communicator is ready.
  void add(const void* memory, std::size_t bytes, const ncclWindow_t* handle, bool in_group);
  // The group has ended in which some were added: NCCL has begun with them.
  void end_group();
  // NCCL has made all that were added, but those of a group that is open (another thread may ask
  // for the communicator's state meanwhile); or it has refused them.
  void learn();
  void drop_unmade();
  void remove(ncclWindow_t handle);

  // Whether it lies in one, as NCCL finds windows: by an array's first byte.
  bool hold(const void* array) const;

 private:
  struct Made {
    std::uintptr_t first;
    std::size_t bytes;
    ncclWindow_t handle;
  };
  struct Making {
    std::uintptr_t first;
    std::size_t bytes;
    const ncclWindow_t* handle;  // the program's variable
    bool in_group;               // which is open
  };

  mutable std::mutex mutex_;
  std::vector<Made> made_;
  std::vector<Making> making_;
  std::atomic<std::size_t> count_{0};  // of those that are made: calls look without the lock
  std::atomic<std::size_t> unmade_{0};
};

}  // namespace thinwire::nccl
