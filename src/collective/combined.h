// One value of a reduction: the same bits on host and device.
#pragma once

#include "collective/ordered.h"
#include "plan/operation.h"

namespace thinwire::collective {

template <Dtype kDtype>
THINWIRE_HOST_DEVICE constexpr bool is_nan(KeyOf<kDtype> key) {
  return key > kInfinityKey<kDtype> || key < -1 - kInfinityKey<kDtype>;
}

// The lesser key or the greater one; a NaN in either is the result, made canonical.
template <Dtype kDtype, bool kLeast>
THINWIRE_HOST_DEVICE constexpr codec::WordOf<kDtype> choose(codec::WordOf<kDtype> there,
                                                            codec::WordOf<kDtype> value) {
  const KeyOf<kDtype> a = key_of<kDtype>(there);
  const KeyOf<kDtype> b = key_of<kDtype>(value);
  const KeyOf<kDtype> least = a < b ? a : b;
  const KeyOf<kDtype> most = a < b ? b : a;
  constexpr auto kNan =
      static_cast<codec::WordOf<kDtype>>(kInfinityKey<kDtype> | (kInfinityKey<kDtype> >> 1));
  const bool has_nan = is_nan<kDtype>(least) || is_nan<kDtype>(most);
  return has_nan ? kNan : word_of_key<kDtype>(kLeast ? least : most);
}

// there (+) value, as reduce.h says.
template <Dtype kDtype, plan::Reduction kReduction>
THINWIRE_HOST_DEVICE inline codec::WordOf<kDtype> combined(codec::WordOf<kDtype> there,
                                                           codec::WordOf<kDtype> value) {
  using codec::number_of;
  if constexpr (kReduction == plan::Reduction::kSum) {
    return codec::word_of<kDtype>(number_of<kDtype>(there) + number_of<kDtype>(value));
  } else if constexpr (kReduction == plan::Reduction::kProduct) {
    return codec::word_of<kDtype>(number_of<kDtype>(there) * number_of<kDtype>(value));
  } else {
    return choose < kDtype, kReduction == plan::Reduction::kMinimum > (there, value);
  }
}

}  // namespace thinwire::collective
