#include "collective/data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace thinwire::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  double magnitude = std::ldexp(fraction, -24);
  if (exponent == 31) magnitude = fraction == 0 ? kInfinity : std::nan("");
  if (exponent > 0 && exponent < 31) magnitude = std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint16_t half_of(double number) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(number) ? 0x8000 : 0);
  const double magnitude = std::fabs(number);
  if (std::isnan(number)) return sign | 0x7E00;
  if (magnitude >= 65520) return sign | 0x7C00;
  const int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  // A unit of the last place; 1024 of them and more are a normal number.
  const auto units =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  const std::uint32_t below = units < 1024 ? 0 : static_cast<std::uint32_t>(exponent + 14) << 10;
  return static_cast<std::uint16_t>(sign | (below + units));
}

std::uint16_t bfloat_of(double number) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if (std::isnan(number)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <typename Value>
Value load(const char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename Value>
void store(char* at, Value value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

double number_at(tw_dtype dtype, const char* at) {
  if (dtype == TW_F32) return load<float>(at);
  if (dtype == TW_F64) return load<double>(at);
  const auto bits = load<std::uint16_t>(at);
  if (dtype == TW_F16) return half_to_double(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

void put_number(tw_dtype dtype, double number, char* at) {
  if (dtype == TW_F32) return store(at, static_cast<float>(number));
  if (dtype == TW_F64) return store(at, number);
  store(at, dtype == TW_F16 ? half_of(number) : bfloat_of(number));
}

double epsilon_of(tw_dtype dtype) {
  if (dtype == TW_F64) return std::numeric_limits<double>::epsilon();
  if (dtype == TW_F32) return std::numeric_limits<float>::epsilon();
  return dtype == TW_F16 ? 0x1p-10 : 0x1p-7;
}

}  // namespace thinwire::bench
