// Numbers of headers, tables and values, at any address.
#pragma once

#include "device/any_alignment.cuh"

namespace thinwire::codec::cuda {

using device::is_aligned;
using device::load_bytes;
using device::load_value;
using device::store_bytes;
using device::store_value;

// Loads and stores of the 64-bit words of which headers, chunk tables and payloads consist.
__device__ inline std::uint64_t load_word(const std::byte* at) {
  return load_value<std::uint64_t>(at);
}

__device__ inline void store_word(std::byte* at, std::uint64_t word) { store_value(at, word); }

}  // namespace thinwire::codec::cuda
