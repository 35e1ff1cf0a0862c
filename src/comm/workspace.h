// Memory of a running collective, on loan from the pools.
#pragma once

#include <cstdint>

#include "device/pool.h"

namespace thinwire::comm {

// One buffer.
class Buffer {
 public:
  // Lends at least `bytes` bytes, aligned to 256, until the loan ends or the next is taken;
  // contents are undefined. kInternal if there is no memory.
  Result<std::byte*> on_host(std::uint64_t bytes);
  Result<std::byte*> pinned(std::uint64_t bytes);
  Result<std::byte*> on_device(int device, std::uint64_t bytes);

  void end_loan() { lease_ = {}; }

 private:
  device::Lease lease_;
};

}  // namespace thinwire::comm
