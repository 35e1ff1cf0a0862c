// Lengths of compressed messages as the MPI sees them; spec/mpi-message.md.
#pragma once

#include <cstdint>

namespace thinwire::mpi {

// A wire message's length is 1 more than a multiple of this, which no message of whole floats is:
// a probe suspects few messages for nothing. Each modulus divides the next, so that a length that
// fits the raw size's modulus also fits the modulus of any smaller size.
constexpr std::uint64_t length_modulus(std::uint64_t bytes) {
  if (bytes < 4096) return 8;
  if (bytes < 65536) return 64;
  return 4096;
}

// The length on the wire of a frame of `frame_bytes` that stands for `raw_bytes`, at least
// `shortest`.
constexpr std::uint64_t wire_length(std::uint64_t frame_bytes, std::uint64_t raw_bytes,
                                    std::uint64_t shortest) {
  const std::uint64_t modulus = length_modulus(raw_bytes);
  const std::uint64_t least = frame_bytes < shortest ? shortest : frame_bytes;
  // `shortest` is another rank's word, which may be anything; no buffer has this length.
  if (least > UINT64_MAX - modulus) return UINT64_MAX;
  return (least + modulus - 2) / modulus * modulus + 1;
}

// Whether a message of this length may be a compressed one; its mark decides.
constexpr bool is_suspicious(std::uint64_t bytes) {
  return bytes > 1 && bytes % length_modulus(bytes) == 1;
}

}  // namespace thinwire::mpi
