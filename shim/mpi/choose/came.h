// How messages came to this process, compressed or raw, by their size: what its steps waited for
// (choose/what_came.h). Those of peers that never compress for it are not looked at, and not
// counted.
#pragma once

#include <cstdint>

#include "choose/what_came.h"

namespace thinwire::mpi {

// A message of `bytes` was received; `raw_bytes` are those of the program. A frame is shorter.
void note_came(std::uint64_t bytes, std::uint64_t raw_bytes);

// Those whose bytes have this bit_width().
choose::Came came_so_far(std::uint32_t size_bits);

}  // namespace thinwire::mpi
