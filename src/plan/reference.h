// Whether a block is coded as its difference from an earlier one. Pure.
#pragma once

#include <cstdint>

namespace thinwire::plan {

struct ReferenceFacts {
  double ordinary_share = 1;         // of a byte, what ordinary coding leaves
  double difference_share = 1;       // and what coding the difference leaves
  double link_bytes_per_second = 0;  // 0: not stated, what is smaller is taken to win
  double seconds_per_byte = 0;       // for differences on both ends and for keeping the result
};

// The gain of a reference: what it saves of each byte, in 4096ths; 0 if it does not pay.
std::uint32_t reference_gain(const ReferenceFacts& facts);
inline constexpr std::uint32_t kMostGain = 4096;

}  // namespace thinwire::plan
