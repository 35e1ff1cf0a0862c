#include "values.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "random.h"

namespace legality {
namespace {

double special(std::uint64_t bits) {
  switch (bits % 10) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return HUGE_VAL;
    case 2:
      return -HUGE_VAL;
    case 3:
      return -0.0;
    case 4:
      return 1e-42;
    default:
      return static_cast<double>(bits % 4096) / 64;
  }
}

double number(const Content& content, std::uint64_t index) {
  switch (content.kind) {
    case Kind::kSmooth:
      return std::sin(0.01 * static_cast<double>(index + content.key % 512));
    case Kind::kSpecial:
      return special(join(content.key, index));
    case Kind::kConstant:
      return static_cast<double>(content.key % 7) / 2;
    default:
      return small_value(content.key, index);
  }
}

// fp16 by its fields: 5 bits of exponent, 10 of fraction.
std::uint16_t to_half(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  if (std::isinf(value) || exponent > 16) return sign | 0x7c00;
  if (value == 0 || exponent < -13) return sign;
  const int bits = static_cast<int>(fraction * 2048) - 1024;
  return static_cast<std::uint16_t>(sign | ((exponent + 14) << 10) | bits);
}

double from_half(std::uint16_t bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

template <typename Value>
Value take(const void* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename Value>
void put(Value value, void* to) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

std::uint64_t size_of(std::uint32_t dtype) {
  static const std::uint64_t sizes[] = {1, 4, 8, 2, 2};
  return sizes[dtype];
}

int small_value(std::uint64_t key, std::uint64_t index) {
  const int value = (index / 32 + key) % 2 == 0 ? 1 : 2;
  return (key + index / 64) % 3 == 0 ? -value : value;
}

void write_number(double value, std::uint32_t dtype, void* to) {
  if (dtype == TW_F32) return put(static_cast<float>(value), to);
  if (dtype == TW_F64) return put(value, to);
  if (dtype == TW_F16) return put(to_half(value), to);
  if (dtype == TW_BYTES) return put(static_cast<std::uint8_t>(static_cast<int>(value)), to);
  const float near = static_cast<float>(value);
  std::uint32_t bits = take<std::uint32_t>(&near);
  if (std::isnan(value)) bits = 0x7fc00000;
  put(static_cast<std::uint16_t>(bits >> 16), to);
}

double read_number(std::uint32_t dtype, const void* from) {
  if (dtype == TW_F32) return static_cast<double>(take<float>(from));
  if (dtype == TW_F64) return take<double>(from);
  if (dtype == TW_F16) return from_half(take<std::uint16_t>(from));
  if (dtype == TW_BYTES) return take<std::uint8_t>(from);
  const std::uint32_t bits = static_cast<std::uint32_t>(take<std::uint16_t>(from)) << 16;
  return static_cast<double>(take<float>(&bits));
}

void write_value(const Content& content, std::uint32_t dtype, std::uint64_t index, void* to) {
  const std::uint64_t bits = join(content.key, index);
  const bool random =
      content.kind == Kind::kRandom || (dtype == TW_BYTES && content.kind == Kind::kSpecial);
  if (random) {
    std::memcpy(to, &bits, size_of(dtype));
  } else if (dtype == TW_BYTES && content.kind == Kind::kSmooth) {
    put(static_cast<std::uint8_t>(index / 16), to);
  } else {
    write_number(number(content, index), dtype, to);
  }
}

}  // namespace legality
