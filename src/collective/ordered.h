// Floats as integers of the same order: -NaN < -infinity < ... < -0 < +0 < ... < infinity < NaN; on
// host and device.
#pragma once

#include <limits>
#include <type_traits>

#include "base/host_device.h"
#include "codec/accumulate.h"

namespace thinwire::collective {

template <Dtype kDtype>
using KeyOf = std::make_signed_t<codec::WordOf<kDtype>>;

// Keys in the order of the values; the function is its own inverse.
template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr KeyOf<kDtype> key_of(codec::WordOf<kDtype> word) {
  using Key = KeyOf<kDtype>;
  const auto key = static_cast<Key>(word);
  const auto is_negative = static_cast<Key>(key >> (8 * sizeof(Key) - 1));  // all bits or none
  return static_cast<Key>(key ^ (is_negative & std::numeric_limits<Key>::max()));
}

template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr codec::WordOf<kDtype> word_of_key(KeyOf<kDtype> key) {
  return static_cast<codec::WordOf<kDtype>>(
      key_of<kDtype>(static_cast<codec::WordOf<kDtype>>(key)));
}

// Keys of finite values lie between -1 - kInfinityKey and kInfinityKey, both excluded; those of NaN
// outside them.
template <Dtype kDtype>
inline constexpr KeyOf<kDtype> kInfinityKey = kDtype == Dtype::kF64   ? 0x7FF0000000000000
                                              : kDtype == Dtype::kF32 ? 0x7F800000
                                              : kDtype == Dtype::kF16 ? 0x7C00
                                                                      : 0x7F80;

}  // namespace thinwire::collective
