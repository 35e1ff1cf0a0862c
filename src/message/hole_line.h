// The values that a codec sees in a hole of a row; spec/frame.md, "An encoder".
#pragma once

#include <cstdint>

#include "base/numbers.h"

namespace thinwire::message {

// The hole of `count` values after `before`, if a value comes after it. Both are the one next to
// the hole if it lies at an end of its row.
template <Dtype kDtype>
struct HoleLine {
  using Word = WordOf<kDtype>;
  using Number = NumberOf<kDtype>;

  Word before;
  Number from, step;
  bool is_line;

  THINWIRE_HOST_DEVICE HoleLine(Word before_it, Word after_it, std::uint64_t count)
      : before(before_it), from(number_of<kDtype>(before_it)) {
    step = (number_of<kDtype>(after_it) - from) / static_cast<Number>(count + 1);
    const Number size = step < 0 ? -step : step;
    is_line = step != 0 && size <= most_finite();
  }

  // Value `at` of the hole, from 0 on.
  THINWIRE_HOST_DEVICE Word at(std::uint64_t at) const {
    return is_line ? word_of<kDtype>(from + step * static_cast<Number>(at + 1)) : before;
  }

  THINWIRE_HOST_DEVICE static Number most_finite() {
    if constexpr (kDtype == Dtype::kF64) return double_of(0x7FEFFFFFFFFFFFFFu);
    return static_cast<Number>(float_of(0x7F7FFFFFu));
  }
};

}  // namespace thinwire::message
