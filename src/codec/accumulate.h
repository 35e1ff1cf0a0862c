// How decoded values are stored: in place of the old ones, or added to them.
#pragma once

#include "base/numbers.h"

namespace thinwire::codec {

// With `adds`, each decoded value is added to the one at the destination, and the sum is scaled (1
// / ranks makes an average); without it, the decoded value replaces it. add_and_scale() is
// the arithmetic.
struct Accumulate {
  bool adds = false;
  double scale = 1;
};

// Numbers, as codecs call them.
using thinwire::bits_of;
using thinwire::double_of;
using thinwire::nan_word;
using thinwire::number_of;
using thinwire::NumberOf;
using thinwire::word_of;
using thinwire::WordOf;

// (there + value) * scale. fp32 and fp64 are rounded after the sum and after the product; 16-bit
// types are so in fp32, and once more to the type. The same bits on host and device.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE WordOf<kDtype> add_and_scale(WordOf<kDtype> there, WordOf<kDtype> value,
                                                  NumberOf<kDtype> scale) {
  return word_of<kDtype>((number_of<kDtype>(there) + number_of<kDtype>(value)) * scale);
}

}  // namespace thinwire::codec
