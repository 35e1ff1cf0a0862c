// Values as words of bits, on the host and on the device.
#pragma once

#include "base/host_device.h"

namespace thinwire::codec {

template <typename Word>
inline constexpr int kWordBits = 8 * sizeof(Word);

// Rotates the sign to the lowest bit, so that it does not part values around zero; and back.
template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word sign_to_low(Word value) {
  return static_cast<Word>(value << 1 | value >> (kWordBits<Word> - 1));
}

template <typename Word>
THINWIRE_HOST_DEVICE constexpr Word sign_to_high(Word value) {
  return static_cast<Word>(value >> 1 | value << (kWordBits<Word> - 1));
}

}  // namespace thinwire::codec
