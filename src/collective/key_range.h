// The least and the greatest finite value of an array, as integers of the same order; on host and
// device.
#pragma once

#include <cstdint>

#include "collective/ordered.h"
#include "collective/reduce.h"

namespace thinwire::collective {

// The range that one loop has seen. Nothing finite yet while most < least.
template <Dtype kDtype>
struct Seen {
  using Key = KeyOf<kDtype>;
  static constexpr Key kMost = kInfinityKey<kDtype>;
  static constexpr Key kLeast = static_cast<Key>(-1 - kMost);

  Key least = kMost;
  Key most = kLeast;
  Key outside = 0;  // its sign: something was not finite

  // Without a branch, so that loops vectorise.
  THINWIRE_HOST_DEVICE constexpr void take(codec::WordOf<kDtype> word) {
    const Key key = key_of<kDtype>(word);
    // All bits if the key is not that of a finite value, else none.
    const auto magnitude = static_cast<Key>(key ^ key >> (8 * sizeof(Key) - 1));
    const auto is_outside =
        static_cast<Key>(static_cast<Key>(kMost - 1 - magnitude) >> (8 * sizeof(Key) - 1));
    const auto low = static_cast<Key>((key & ~is_outside) | (kMost & is_outside));
    const auto high = static_cast<Key>((key & ~is_outside) | (kLeast & is_outside));
    least = low < least ? low : least;
    most = high > most ? high : most;
    outside = static_cast<Key>(outside | is_outside);
  }
};

// The same whatever the dtype: as kernels leave it for each of their thread blocks.
struct KeyRange {
  std::int64_t least = INT64_MAX;
  std::int64_t most = INT64_MIN;
  std::int64_t outside = 0;  // its sign

  template <Dtype kDtype>
  THINWIRE_HOST_DEVICE static constexpr KeyRange of(const Seen<kDtype>& seen) {
    return {seen.least, seen.most, seen.outside};
  }
  THINWIRE_HOST_DEVICE constexpr void join(const KeyRange& other) {
    least = other.least < least ? other.least : least;
    most = other.most > most ? other.most : most;
    outside |= other.outside;
  }
};

// The range of an array in host memory.
KeyRange key_range(Dtype dtype, std::uint64_t count, const std::byte* values);

// Statistics from a range that was found in values of `dtype`.
Statistics statistics(Dtype dtype, const KeyRange& range);

}  // namespace thinwire::collective
