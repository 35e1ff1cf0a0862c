// MPC's arithmetic: everything that defines bytes. Host and device code; no containers, no
// allocation. See spec/codec-mpc.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/word.h"

namespace thinwire::codec::mpc {

inline constexpr int kUnitValues = 1024;
inline constexpr int kChunkUnits = 4;
inline constexpr int kChunkValues = kChunkUnits * kUnitValues;
inline constexpr int kMaxStride = 32;

// Words that a unit of `values` values becomes.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr int unit_words(int values) {
  return (values + kWordBits<Word> - 1) / kWordBits<Word> * kWordBits<Word>;
}

// Bytes of the bitmaps of `values` values in one chunk. Units but the last are whole, and a whole
// one is a whole number of groups, so the chunk can be counted in one.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr std::uint64_t bitmap_bytes(std::uint64_t values) {
  const std::uint64_t bits = kWordBits<Word>;
  return (values + bits - 1) / bits * sizeof(Word);
}

}  // namespace thinwire::codec::mpc
