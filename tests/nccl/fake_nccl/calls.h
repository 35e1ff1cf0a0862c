// The properties of a call that ranks compare, and positions in its buffers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fake_nccl {

enum : std::uint32_t {
  kAllReduce,
  kReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kMessage,
  kAlltoAll,
  kGather,
  kScatter
};

inline std::byte* at(void* buffer, std::size_t offset) {
  return static_cast<std::byte*>(buffer) + offset;
}

inline const std::byte* at(const void* buffer, std::size_t offset) {
  return static_cast<const std::byte*>(buffer) + offset;
}

}  // namespace fake_nccl
