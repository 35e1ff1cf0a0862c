// Frequencies of bytes: their codes, what a byte costs under them, and the numbers that coding by
// them takes. Host and device code. See spec/codec-ans.md.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace thinwire::codec::ans {

inline constexpr std::uint32_t kBytes = 256;
inline constexpr std::uint32_t kScaleBits = 11;
inline constexpr std::uint32_t kScale = 1u << kScaleBits;  // all frequencies of a plane together
inline constexpr std::uint32_t kLeastState = 1u << 15;
inline constexpr std::uint32_t kStateEnd = 1u << 31;
inline constexpr std::uint32_t kRestCode = 63;
inline constexpr std::uint32_t kLastCode = 39;
inline constexpr std::uint32_t kCostOfScale = 256 * kScaleBits;

THINWIRE_HOST_DEVICE constexpr std::uint32_t floor_log2(std::uint32_t number) {
#ifdef __CUDA_ARCH__
  return 31u - static_cast<std::uint32_t>(__clz(static_cast<int>(number)));
#else
  return 31u - static_cast<std::uint32_t>(__builtin_clz(number));
#endif
}

// The frequency that a code from 0 to kLastCode stands for.
THINWIRE_HOST_DEVICE constexpr std::uint32_t frequency_of(std::uint32_t code) {
  return code < 4 ? code : (4 + code % 4) << (code / 4 - 1);
}

// The code whose frequency is nearest to `frequency`, which is at least 1; the lower one of two
// that are as near.
THINWIRE_HOST_DEVICE constexpr std::uint32_t nearest_code(std::uint32_t frequency) {
  if (frequency < 4) return frequency;
  const std::uint32_t log = floor_log2(frequency), unit = 1u << (log - 2);
  const std::uint32_t quarter = frequency / unit;
  return 4 * (log - 1) + quarter - 4 + (2 * (frequency - quarter * unit) > unit);
}

// The code of a byte that `count` of `all` bytes are.
THINWIRE_HOST_DEVICE constexpr std::uint32_t code_of(std::uint32_t count, std::uint32_t all) {
  const std::uint32_t frequency = (kScale * count + all / 2) / all;
  return nearest_code(frequency == 0 ? 1 : frequency);
}

// Bits of a byte of this frequency, in 1/256.
THINWIRE_HOST_DEVICE constexpr std::uint32_t cost_of(std::uint32_t frequency) {
  constexpr std::uint32_t kOfQuarter = 0xcf965200u;  // 0, 82, 150, 207
  const std::uint32_t log = floor_log2(frequency);
  const std::uint32_t quarter = (frequency << 2 >> log) % 4;
  return kCostOfScale - 256 * log - (kOfQuarter >> (8 * quarter) & 0xff);
}

// Bytes of a coded plane that costs so much in all, with its table.
THINWIRE_HOST_DEVICE constexpr std::uint32_t coded_bytes(std::uint32_t cost, std::uint32_t table) {
  return table + (cost + 2047) / 2048;
}

// Whether a plane of `all` bytes is to be coded that costs so much in all, by a table of so many
// groups.
THINWIRE_HOST_DEVICE constexpr bool pays(std::uint32_t cost, std::uint32_t groups,
                                         std::uint32_t all) {
  return 64 * coded_bytes(cost, 3 * groups + 2) <= 63 * all;
}

// The numbers with which one byte is encoded: x / frequency = x * factor >> (32 + shift) for x
// below 2^31.
struct Step {
  std::uint32_t factor;
  std::uint32_t packed;  // frequency, start << 12, shift << 24

  THINWIRE_HOST_DEVICE constexpr std::uint32_t frequency() const { return packed & 0xfff; }
  THINWIRE_HOST_DEVICE constexpr std::uint32_t start() const { return packed >> 12 & 0xfff; }
  THINWIRE_HOST_DEVICE constexpr std::uint32_t shift() const { return packed >> 24; }
};

// The factor is ceil(2^(32 + shift) / frequency) with 2^shift < frequency <= 2^(shift + 1), which
// is exact below 2^31. Of the frequency 1 it would take 33 bits: x - 1 comes of the largest one,
// and `start` makes up for it.
THINWIRE_HOST_DEVICE inline Step step_of(std::uint32_t frequency, std::uint32_t start) {
  if (frequency < 2) return {~0u, frequency | (start + kScale - 1) << 12};
  const std::uint32_t shift = floor_log2(frequency - 1);
  const std::uint64_t power = std::uint64_t{1} << (32 + shift);
#ifdef __CUDA_ARCH__
  // Exact: a quotient that is no whole number is 1/kScale away from one, and below 2^32. Devices
  // have no division of 64 bits.
  const auto factor = static_cast<std::uint32_t>(
      __double2ull_ru(__ddiv_rn(static_cast<double>(power), static_cast<double>(frequency))));
#else
  const auto factor = static_cast<std::uint32_t>((power + frequency - 1) / frequency);
#endif
  return {factor, frequency | start << 12 | shift << 24};
}

THINWIRE_HOST_DEVICE constexpr std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __umulhi(a, b);
#else
  return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
#endif
}

// Whether a state gives away a word before it takes a byte.
THINWIRE_HOST_DEVICE constexpr bool gives_word(std::uint32_t state, const Step& step) {
  return state >= step.frequency() << 20;
}

// The state that has taken the byte.
THINWIRE_HOST_DEVICE constexpr std::uint32_t taken(std::uint32_t state, const Step& step) {
  const std::uint32_t quotient = high_product(state, step.factor) >> step.shift();
  return state + step.start() + quotient * (kScale - step.frequency());
}

// The state before it took a byte of this frequency, words aside.
THINWIRE_HOST_DEVICE constexpr std::uint32_t given_back(std::uint32_t state,
                                                        std::uint32_t frequency,
                                                        std::uint32_t start) {
  return frequency * (state >> kScaleBits) + state % kScale - start;
}

}  // namespace thinwire::codec::ans
