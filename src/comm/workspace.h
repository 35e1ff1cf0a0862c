// Memory of a running collective, kept for the next one.
#pragma once

#include <cstdint>
#include <memory>

#include "device/pool.h"

namespace thinwire::comm {

// One buffer that grows. Host memory of its own, or a lease of the pools where GPUs must reach it.
class Buffer {
 public:
  // At least `bytes` bytes, aligned to 256; contents are undefined. kInternal where there is no
  // memory.
  Result<std::byte*> on_host(std::uint64_t bytes);
  Result<std::byte*> pinned(std::uint64_t bytes);
  Result<std::byte*> on_device(int device, std::uint64_t bytes);

  // Gives leases back; host memory stays.
  void end_loan() { lease_ = {}; }

 private:
  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, std::align_val_t{256}); }
  };
  std::unique_ptr<std::byte, Free> host_;
  std::uint64_t host_bytes_ = 0;
  device::Lease lease_;
};

}  // namespace thinwire::comm
