// Memory of a running collective, on loan from the pools.
#pragma once

#include <cstdint>

#include "comm/call.h"
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

// How much memory a call touches on one rank.

// Values from `send` and `receive` on, up to the last one that the call reads or writes there.
struct Regions {
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
};

Regions regions_of(const Call& call, int rank, int size);

// Adds up all ranks' counts: those of the list, or `count` each.
std::uint64_t sum_of(const std::uint64_t* counts, std::uint64_t count, int size);

}  // namespace thinwire::comm
