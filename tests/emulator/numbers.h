// CUDA's functions of bits, numbers and loads, as its programming guide and the PTX manual have
// them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

constexpr int __popc(unsigned bits) { return std::popcount(bits); }
constexpr int __clz(int bits) { return std::countl_zero(static_cast<unsigned>(bits)); }
constexpr int __clzll(long long bits) {
  return std::countl_zero(static_cast<unsigned long long>(bits));
}
constexpr int __ffs(int bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}
constexpr int __ffsll(long long bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(bits)) + 1;
}

constexpr unsigned long long __brevll(unsigned long long bits) {
  unsigned long long reversed = 0;
  for (int at = 0; at < 64; ++at) reversed |= (bits >> at & 1) << (63 - at);
  return reversed;
}
constexpr unsigned __brev(unsigned bits) { return static_cast<unsigned>(__brevll(bits) >> 32); }

// Bytes 0 to 3 are `low`'s, 4 to 7 `high`'s; the selector's nibbles name them.
constexpr unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  unsigned bytes = 0;
  for (int at = 0; at < 4; ++at) {
    const unsigned which = selector >> 4 * at & 7;
    bytes |= static_cast<unsigned>(both >> 8 * which & 0xFF) << 8 * at;
  }
  return bytes;
}

constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}
constexpr unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
constexpr unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

constexpr unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}

// ---- Bytes and halves of a word ----

constexpr unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int at = 0; at < 32; at += 8) sum += (a >> at & 0xFF) * (b >> at & 0xFF);
  return sum;
}
constexpr unsigned __dp2a_lo(unsigned halves, unsigned bytes, unsigned sum) {
  return sum + (halves & 0xFFFF) * (bytes & 0xFF) + (halves >> 16) * (bytes >> 8 & 0xFF);
}

template <typename Choose>
constexpr unsigned of_halves(unsigned a, unsigned b, Choose&& choose) {
  const auto each = [&](int at) -> unsigned {
    return choose(static_cast<std::uint16_t>(a >> at), static_cast<std::uint16_t>(b >> at));
  };
  return each(0) | each(16) << 16;
}
constexpr unsigned __vmaxu2(unsigned a, unsigned b) {
  return of_halves(a, b, [](std::uint16_t x, std::uint16_t y) { return x < y ? y : x; });
}
constexpr unsigned __vminu2(unsigned a, unsigned b) {
  return of_halves(a, b, [](std::uint16_t x, std::uint16_t y) { return y < x ? y : x; });
}
constexpr unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned most) {
  const unsigned sum = of_halves(
      a, b, [](std::uint16_t x, std::uint16_t y) { return static_cast<std::uint16_t>(x + y); });
  return __vminu2(sum, most);
}

// ---- Floats ----

constexpr float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
constexpr unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
constexpr double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
constexpr long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline float __frcp_rn(float value) { return 1.0f / value; }
inline double __ddiv_rn(double a, double b) { return a / b; }

// The number, if the other one is NaN; the host's return a NaN if that is a signalling one.
namespace thinwire::emulator {
inline float larger(float a, float b) { return a > b || b != b ? a : b; }
inline float smaller(float a, float b) { return a < b || b != b ? a : b; }
}  // namespace thinwire::emulator
#define fmaxf thinwire::emulator::larger
#define fminf thinwire::emulator::smaller

inline float __double2float_rd(double value) {
  const float nearest = static_cast<float>(value);
  return nearest > value ? std::nextafter(nearest, -INFINITY) : nearest;
}

inline unsigned long long __double2ull_ru(double value) {
  return static_cast<unsigned long long>(std::ceil(value));
}

// ---- Memory ----

template <typename Value>
Value __ldg(const Value* at) {
  return *at;
}
template <typename Value>
Value __ldcs(const Value* at) {
  return *at;
}
template <typename Value>
Value __ldcv(const Value* at) {
  asm volatile("" ::: "memory");
  return *at;
}
