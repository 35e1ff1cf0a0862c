// How decoded values are stored: in place of the old ones, or added to them.
#pragma once

namespace thinwire::codec {

// With `adds`, each decoded value is added to the one at the destination, and the sum is scaled (1
// / ranks makes an average); without it, the decoded value replaces it. codec/reduce.h has the
// arithmetic.
struct Accumulate {
  bool adds = false;
  double scale = 1;
};

}  // namespace thinwire::codec
