// The cost of a codec.
#pragma once

namespace thinwire::plan {

// Rates are of uncompressed bytes; the ratio is that of uncompressed bytes to encoded ones.
struct CodecCost {
  double encode_bytes_per_second = 0;
  double decode_bytes_per_second = 0;
  double ratio = 1;
};

// The most that lossless codecs make of dense floats: where even that would not pay, no message is
// tried.
inline constexpr double kHopedRatio = 2;

}  // namespace thinwire::plan
