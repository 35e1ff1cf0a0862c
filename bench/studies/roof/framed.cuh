// Parts that encoding and decoding the chunks of framed.h share.
#pragma once

#include "decode.cuh"
#include "framed.h"

namespace roof::framed {

using Seat = roof::Seat<Format<kRows, kWarps, kWarps, Parts::kTogether>>;

struct Shared {
  std::uint64_t sums[kWarps];
  std::uint32_t totals[kWarps];
  std::uint32_t before;  // the sum of the sizes of all chunks before this one, in words
  std::uint32_t unused;
  std::uint64_t raws[(kMostRaw + 8) / 8];
  uint4 staged[kWarps][kRows * 32];
};

__device__ inline std::uint64_t join(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

// A lane's words of a payload.
struct LaneWords {
  std::uint64_t planes[kRows];
  std::uint64_t codes[3];
  std::uint64_t bases;  // of the warp's rows
  std::uint64_t ends;   // of the chunk
};

// The checksum of the warp's words, but for raw exponents, in all lanes.
class Sum {
 public:
  __device__ explicit Sum(const Seat& seat) : seat_(seat) {
#pragma unroll
    for (unsigned at = 0; at < 4; ++at) keys_[at] = key_of(kPlaneWord + seat.lane + 32 * at);
  }

  __device__ void take(const LaneWords& words) {
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
      take(words.planes[row], keys_[row % 4], row % 4, 2 * seat_.warp + row / 4);
    }
#pragma unroll
    for (unsigned at = 0; at < 3; ++at) {
      const unsigned slot = kCodesSlot + 3 * seat_.warp + at;
      const unsigned quarter = slot % 4;
      // An index that is not known would put the keys into memory.
      const std::uint64_t key = quarter == 0   ? keys_[0]
                                : quarter == 1 ? keys_[1]
                                : quarter == 2 ? keys_[2]
                                               : keys_[3];
      take(words.codes[at], key, quarter, slot / 4);
    }
    if (seat_.lane == 0) sum_ += product(words.bases, key_of(1 + seat_.warp));
    if (threadIdx.x == 0) sum_ += product(words.ends, key_of(0));
  }

  __device__ void take_raw(std::uint64_t word, std::uint32_t number) {
    sum_ += weight_of(kRawsWord + number) * product(word, key_of(kRawsWord + number));
  }

  __device__ std::uint64_t over_warp() const {
    const std::uint64_t value = sum_ + (seat_.lane >= 27 ? 2 * next_block_ : 0);
    const auto part = [&](int from, int bits) {
      const auto piece = static_cast<std::uint32_t>(value >> from) & ((1u << bits) - 1);
      return std::uint64_t{__reduce_add_sync(kAllLanes, piece)} << from;
    };
    return part(0, 22) + part(22, 21) + part(43, 21);
  }

 private:
  __device__ void take(std::uint64_t word, std::uint64_t key, unsigned quarter, unsigned block) {
    const std::uint64_t its = product(word, key);
    sum_ += (2 * block + 1) * its;
    if (quarter == 3) next_block_ += its;
  }

  const Seat& seat_;
  std::uint64_t keys_[4];
  std::uint64_t sum_ = 0;
  std::uint64_t next_block_ =
      0;  // products of words that are in the next block in lanes from 27 on
};

}  // namespace roof::framed
