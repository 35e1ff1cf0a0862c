// Sources of a program's values. Random numbers are a pure function of where they are wanted:
// every rank can compute any of them, and they do not depend on how the work is shared out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

// The finaliser of SplitMix64: every bit of the result depends on every bit of `value`.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

// Number `index` of the sequence `stream`, 64 independent bits.
constexpr std::uint64_t random_bits(std::uint64_t stream, std::uint64_t index) {
  constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15U;
  return mix(mix(stream + kGoldenGamma) + (index + 1) * kGoldenGamma);
}

// In [0, 1).
constexpr double random_number(std::uint64_t stream, std::uint64_t index) {
  return static_cast<double>(random_bits(stream, index) >> 11) * 0x1p-53;
}

// The first values of a file without a header, in the machine's byte order, `most` at the most.
// Errors, an empty file, a length that is not one of whole values, and NaN or infinity end in
// std::runtime_error with a sentence for the user. Real is float or double.
template <typename Real>
std::vector<Real> read_floats(const std::string& path, std::size_t most);

}  // namespace examples
