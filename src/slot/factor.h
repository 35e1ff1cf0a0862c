// The factor by which a rank's values are multiplied before they are added (pre-multiplied sums).
// It is each rank's own and travels in its slots' headers: values are encoded as they are, and
// multiplied by whoever adds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/dtype.h"
#include "base/host_device.h"
#include "base/numbers.h"

namespace thinwire::slot {

// A number, or a value of the call's type that the stream reads when it comes by.
struct SlotFactor {
  bool exists = false;
  Dtype dtype = Dtype::kF32;
  double number = 1;
  const void* at = nullptr;  // in the place of `number`
};

template <Dtype kDtype>
THINWIRE_HOST_DEVICE double factor_at(const void* at) {
  WordOf<kDtype> word;
  memcpy(&word, at, sizeof word);
  return thinwire::number_of<kDtype>(word);
}

// Every type's values are exact as doubles.
THINWIRE_HOST_DEVICE inline double number_of(const SlotFactor& factor) {
  if (factor.at == nullptr) return factor.number;
  switch (factor.dtype) {
    case Dtype::kF64:
      return factor_at<Dtype::kF64>(factor.at);
    case Dtype::kF16:
      return factor_at<Dtype::kF16>(factor.at);
    case Dtype::kBf16:
      return factor_at<Dtype::kBf16>(factor.at);
    default:
      return factor_at<Dtype::kF32>(factor.at);
  }
}

// The factor as it stands in a header; 0 if there is none.
THINWIRE_HOST_DEVICE inline std::uint64_t factor_word(const SlotFactor& factor) {
  return factor.exists ? bits_of(number_of(factor)) : 0;
}

// The factors of all ranks: one in each slot's header, this rank's elsewhere if it has no slot.
struct Factors {
  bool exist = false;
  const std::byte* first = nullptr;
  std::uint64_t stride = 0;
  int own = -1;  // the rank whose factor is `own_factor`; -1: all are in slots
  SlotFactor own_factor;

  THINWIRE_HOST_DEVICE double of(int rank) const {
    if (rank == own) return number_of(own_factor);
    const int slot = own >= 0 && rank > own ? rank - 1 : rank;
    std::uint64_t word = 0;
    memcpy(&word, first + stride * static_cast<std::uint64_t>(slot), sizeof word);
    return double_of(word);
  }
};

}  // namespace thinwire::slot
