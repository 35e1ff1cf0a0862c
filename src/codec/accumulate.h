// What becomes of decoded values.
#pragma once

namespace thinwire::codec {

// They replace what is at the destination, or are added to it and the sum is scaled (1 / ranks
// makes an average). codec/reduce.h has the arithmetic.
struct Accumulate {
  bool adds = false;
  double scale = 1;
};

}  // namespace thinwire::codec
