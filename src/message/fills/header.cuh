// The header of a frame that may miss values, as 64-bit words; spec/frame.md, "Header".
#pragma once

#include "codec/cuda/frame_end.cuh"
#include "frame/header.h"
#include "message/fills/block.cuh"

namespace thinwire::message::fills {

inline constexpr int kKindsWord = 2;  // version, codec, dtype, rank, flags
inline constexpr std::uint64_t kFillFlag = std::uint64_t{4} << 40;
inline constexpr int kMostWords = frame::kMaxHeaderWords + 1;

// Words of the header of a frame in which values are missing, of one in which none are.
__device__ inline std::uint64_t kinds_with_fill(std::uint64_t kinds) {
  return (kinds & ~std::uint64_t{0xFF}) | frame::kFillsVersion | kFillFlag;
}

struct HoledHeader {
  std::uint64_t word[kMostWords];
  int count;

  __device__ std::uint64_t bytes() const { return 8 * static_cast<std::uint64_t>(count); }

  // As frame::header_checksum().
  __device__ std::uint64_t checksum() const {
    std::uint64_t sum = 0;
    for (int at = 0; at < count; ++at) {
      if (at == frame::kChecksumWord) continue;
      const int lane = at < frame::kChecksumWord ? at : at - 1;
      sum += checksum_product(word[at], checksum_key(static_cast<std::uint64_t>(lane)));
    }
    return checksum_finish(bytes() - 8, sum);
  }
};

// Makes the header of an encode, unsealed.
__device__ inline HoledHeader make_header(const frame::HeaderWords& words, const State& state) {
  HoledHeader header{};
  header.count = static_cast<int>(words.count);
  for (int at = 0; at < header.count; ++at) header.word[at] = words.word[at];
  if (state.has_fill == 0) return header;
  header.word[kKindsWord] = kinds_with_fill(words.word[kKindsWord]);
  header.word[header.count++] = state.fill;
  return header;
}

}  // namespace thinwire::message::fills
