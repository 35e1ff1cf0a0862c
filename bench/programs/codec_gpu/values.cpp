#include "values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace thinwire::bench {
namespace {

struct Dtype {
  const char* name;
  int code;
  std::size_t bytes;
};
constexpr Dtype kDtypes[] = {{"bytes", 0, 1}, {"f32", 1, 4},  {"f64", 2, 8}, {"f16", 3, 2},
                             {"bf16", 4, 2},  {"e4m3", 5, 1}, {"e5m2", 6, 1}};

const Dtype* find(const std::string& name) {
  const auto* found = std::ranges::find_if(kDtypes, [&](const Dtype& d) { return name == d.name; });
  return found == std::end(kDtypes) ? nullptr : found;
}

template <typename Word>
Word load(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int mantissa = bits & 0x3FF;
  double value = std::ldexp(exponent == 0 ? mantissa : mantissa + 1024, std::max(exponent, 1) - 25);
  if (exponent == 31) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  }
  return bits >> 15 != 0 ? -value : value;
}

// Without infinities: all but one mantissa of the largest exponent are numbers.
double from_e4m3(std::uint8_t bits) {
  const int exponent = bits >> 3 & 0xF;
  const int mantissa = bits & 7;
  const double value = (bits & 0x7F) == 0x7F ? std::numeric_limits<double>::quiet_NaN()
                                             : std::ldexp(exponent == 0 ? mantissa : mantissa + 8,
                                                          std::max(exponent, 1) - 10);
  return bits >> 7 != 0 ? -value : value;
}

double value_at(int code, const std::byte* at) {
  switch (code) {
    case 1:
      return load<float>(at);
    case 2:
      return load<double>(at);
    case 3:
      return from_half(load<std::uint16_t>(at));
    case 4:
      return std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(at)} << 16);
    case 5:
      return from_e4m3(load<std::uint8_t>(at));
    case 6:
      return from_half(static_cast<std::uint16_t>(load<std::uint8_t>(at) << 8));
    default:
      return static_cast<double>(load<std::uint8_t>(at));
  }
}

}  // namespace

std::size_t value_bytes(const std::string& dtype) {
  const Dtype* found = find(dtype);
  return found == nullptr ? 0 : found->bytes;
}

int dtype_code(const std::string& dtype) {
  const Dtype* found = find(dtype);
  return found == nullptr ? -1 : found->code;
}

double range_of(const Values& values) {
  const Dtype* dtype = find(values.dtype);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t at = 0; at < values.bytes.size(); at += dtype->bytes) {
    const double value = value_at(dtype->code, values.bytes.data() + at);
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high >= low ? high - low : 0;
}

double max_error(const Values& left, const Values& right) {
  const Dtype* dtype = find(left.dtype);
  double largest = 0;
  for (std::size_t at = 0; at < left.bytes.size(); at += dtype->bytes) {
    const double expected = value_at(dtype->code, left.bytes.data() + at);
    if (!std::isfinite(expected)) continue;
    const double found = value_at(dtype->code, right.bytes.data() + at);
    if (!std::isfinite(found)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::fabs(expected - found));
  }
  return largest;
}

}  // namespace thinwire::bench
