// How a decoded value is added to what is there: the same bits on host and device.
#pragma once

#include "base/numbers.h"

namespace thinwire::codec {

// As codecs call them.
using thinwire::bits_of;
using thinwire::double_of;
using thinwire::nan_word;
using thinwire::number_of;
using thinwire::NumberOf;
using thinwire::word_of;
using thinwire::WordOf;

// (there + value) * scale. fp32 and fp64 are rounded after the sum and after the product; 16-bit
// types are so in fp32, and once more to the type.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE WordOf<kDtype> add_and_scale(WordOf<kDtype> there, WordOf<kDtype> value,
                                                  NumberOf<kDtype> scale) {
  return word_of<kDtype>((number_of<kDtype>(there) + number_of<kDtype>(value)) * scale);
}

}  // namespace thinwire::codec
