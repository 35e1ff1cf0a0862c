// Values of test programs: what each rank has in each call, and what comes of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/numbers.h"
#include "world.h"

namespace random_program {

using world::Bytes;

inline std::size_t size_of(ncclDataType_t type) {
  if (type == ncclFloat64 || type == ncclInt64) return 8;
  return type == ncclFloat16 || type == ncclBfloat16 ? 2 : 4;
}

// Whole numbers of so few bits that sums of four of them are exact in the type, in any order; so
// are means of two and of four. More ranks, up to eight, have one bit less.
inline unsigned bits_of(ncclDataType_t type) {
  if (type == ncclBfloat16) return 6;
  return type == ncclFloat16 ? 9 : 18;
}

inline double value(ncclDataType_t type, int rank, std::uint32_t call, std::size_t at, bool noise,
                    int ranks = 4) {
  const bool many = ranks > 4;
  const unsigned bits = bits_of(type) - (many ? 1 : 0);
  if (!noise && type == ncclBfloat16) {
    if (many) return static_cast<double>(at / 8 % 20 + call % 4) + rank;
    return static_cast<double>(at / 8 % 40 + call % 8) + rank * 5;
  }
  if (!noise && many) return static_cast<double>(at / 8 % 195 + call % 25) + rank * 4;
  if (!noise) return static_cast<double>(at / 8 % 390 + call % 50) + rank * 11;
  std::uint64_t word = (at + 1) * 0x9E3779B97F4A7C15U ^
                       (call * 131ULL + static_cast<unsigned>(rank)) * 0xD1B54A32D192ED03U;
  word = (word ^ word >> 29) * 0xBF58476D1CE4E5B9U;
  // Values are of all magnitudes, so that exponents differ too.
  const auto number = static_cast<int>((word >> 32 & ((1U << bits) - 1)) >> (word >> 16) % bits);
  return (word & 1) != 0 ? number : -number;
}

// The magnitudes of a call's values: as value() has them, or multiplied by the power of two that
// brings them to the largest or to the smallest ones of the type.
enum class Size { kUsual, kLargest, kSmallest };

// `spare`: bits that a sum may have more. Of the smallest values a quarter and an eighth are exact.
inline int power_of(ncclDataType_t type, Size size, int spare) {
  constexpr int kBelow = 3;
  const bool wide = type == ncclFloat64, half = type == ncclFloat16, brain = type == ncclBfloat16;
  if (size == Size::kUsual || !(wide || half || brain || type == ncclFloat32)) return 0;
  if (size == Size::kSmallest) return kBelow - (wide ? 1074 : half ? 24 : brain ? 133 : 149);
  return (wide ? 1024 : half ? 16 : 128) - static_cast<int>(bits_of(type)) - spare;
}

// Sums stay exact.
inline double factor(int rank) { return rank % 3 == 0 ? 0.5 : -0.5; }

template <typename Word>
void put(Bytes& to, std::size_t at, Word word) {
  std::memcpy(to.data() + at * sizeof word, &word, sizeof word);
}

// A number of the type's arithmetic, stored.
inline void store(Bytes& to, std::size_t at, ncclDataType_t type, double number) {
  using namespace thinwire;
  if (type == ncclFloat64) put(to, at, number);
  if (type == ncclFloat32) put(to, at, static_cast<float>(number));
  if (type == ncclFloat16) put(to, at, f16_of(static_cast<float>(number)));
  if (type == ncclBfloat16) put(to, at, bf16_of(static_cast<float>(number)));
  if (type == ncclInt32) put(to, at, static_cast<std::int32_t>(number));
  if (type == ncclInt64) put(to, at, static_cast<std::int64_t>(number));
}

// The number after store() has rounded it to the type.
inline double stored(ncclDataType_t type, double number) {
  using namespace thinwire;
  const auto single = static_cast<float>(number);
  if (type == ncclFloat32) return single;
  if (type == ncclFloat16) return float_of_f16(f16_of(single));
  if (type == ncclBfloat16) return float_of_bf16(bf16_of(single));
  return type == ncclInt32 ? static_cast<double>(static_cast<std::int32_t>(number)) : number;
}

inline double load(const Bytes& from, std::size_t at, ncclDataType_t type) {
  using namespace thinwire;
  const auto get = [&](auto word) {
    std::memcpy(&word, from.data() + at * sizeof word, sizeof word);
    return word;
  };
  if (type == ncclFloat64) return get(0.0);
  if (type == ncclFloat32) return get(0.0F);
  if (type == ncclInt32) return get(0);
  const std::uint16_t word = get(std::uint16_t{});
  return type == ncclFloat16 ? float_of_f16(word) : float_of_bf16(word);
}

// In the order of ranks: doubles as doubles, what is smaller in fp32 and rounded once. A mean of
// largest values is none of their sum.
inline double combined(ncclDataType_t type, ncclRedOp_t op, std::vector<double> numbers) {
  const auto ranks = static_cast<double>(numbers.size());
  const bool whole = type == ncclInt32 || type == ncclInt64;
  for (double& number : numbers) number /= op == ncclAvg && !whole ? ranks : 1;
  double sum = numbers[0];
  for (std::size_t at = 1; at < numbers.size(); ++at) {
    if (op == ncclMax || op == ncclMin) {
      sum = op == ncclMax ? std::max(sum, numbers[at]) : std::min(sum, numbers[at]);
    } else if (op == ncclProd) {
      sum *= numbers[at];
    } else if (type == ncclFloat64 || type == ncclInt32) {
      sum += numbers[at];
    } else {
      sum = static_cast<float>(sum) + static_cast<float>(numbers[at]);
    }
  }
  return op == ncclAvg && whole ? sum / ranks : sum;
}

}  // namespace random_program
