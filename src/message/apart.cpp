#include "message/apart.h"

#include "base/vector_units.h"

namespace thinwire::message {
namespace {

template <typename F>
inline Magnitudes magnitudes_in(const std::byte* values, std::uint64_t count) {
  using Bits = typename F::Bits;
  Bits largest = 0;
  std::uint64_t above = 0, below = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    const auto bits = static_cast<Bits>(load<Bits>(values + at * sizeof(Bits)) & F::kMagnitude);
    const Bits finite = bits < F::kInfinity ? bits : Bits{0};
    largest = finite > largest ? finite : largest;
    above += finite > F::kHigh ? 1 : 0;
    below += finite < F::kLow && finite != 0 ? 1 : 0;
  }
  return {largest, above, below};
}

template <typename F>
inline Extremes extremes_in(const std::byte* values, std::uint64_t count) {
  using Bits = typename F::Bits;
  Bits largest = 0, nan = 0;
  for (std::uint64_t at = 0; at < count; ++at) {
    const auto bits = static_cast<Bits>(load<Bits>(values + at * sizeof(Bits)) & F::kMagnitude);
    const Bits finite = bits < F::kInfinity ? bits : Bits{0};
    largest = finite > largest ? finite : largest;
    nan |= bits > F::kInfinity ? Bits{1} : Bits{0};
  }
  return {largest, nan != 0};
}

THINWIRE_VECTOR_CLONES Extremes extremes_of_f32(const std::byte* values, std::uint64_t count) {
  return extremes_in<F32Words>(values, count);
}

THINWIRE_VECTOR_CLONES Extremes extremes_of_f64(const std::byte* values, std::uint64_t count) {
  return extremes_in<F64Words>(values, count);
}

THINWIRE_VECTOR_CLONES Magnitudes magnitudes_of_f32(const std::byte* values, std::uint64_t count) {
  return magnitudes_in<F32Words>(values, count);
}

THINWIRE_VECTOR_CLONES Magnitudes magnitudes_of_f64(const std::byte* values, std::uint64_t count) {
  return magnitudes_in<F64Words>(values, count);
}

}  // namespace

Magnitudes magnitudes_of(Dtype dtype, const std::byte* values, std::uint64_t count) {
  if (dtype == Dtype::kF32) return magnitudes_of_f32(values, count);
  if (dtype == Dtype::kF64) return magnitudes_of_f64(values, count);
  return magnitudes_in<Bf16Words>(values, count);
}

Extremes extremes_of(Dtype dtype, const std::byte* values, std::uint64_t count) {
  if (dtype == Dtype::kF32) return extremes_of_f32(values, count);
  if (dtype == Dtype::kF64) return extremes_of_f64(values, count);
  return extremes_in<Bf16Words>(values, count);
}

}  // namespace thinwire::message
