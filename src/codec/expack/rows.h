// The steps of a chunk on the host, each over whole rows and without a branch on the data, so that
// compilers vectorise them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "codec/accumulate.h"
#include "codec/expack/core.h"
#include "codec/expack/groups.h"

namespace thinwire::codec::expack {

inline constexpr int kMostRows = kChunkBytes / 2 / kRowValues;
inline constexpr int kMostValues = kMostRows * kRowValues;

// Bytes of a chunk's values, one each, rows filled up.
using ByteRows = std::array<std::uint8_t, kMostValues>;

// The exponents of `values` values, whole rows, in plain order.
template <Dtype kDtype>
inline void take_exponents(const std::byte* source, std::uint32_t values, ByteRows& exponents) {
  using Word = WordOf<kDtype>;
  for (std::uint32_t at = 0; at < values; ++at) {
    const Word word = load<Word>(source + at * sizeof(Word));
    exponents[at] =
        static_cast<std::uint8_t>(word >> Format<kDtype>::kShift & Format<kDtype>::kLargest);
  }
}

inline std::uint32_t count_zeros(const std::uint8_t* exponents) {
  std::uint32_t count = 0;
  for (int at = 0; at < kRowValues; ++at) count += exponents[at] == 0 ? 1u : 0u;
  return count;
}

template <Dtype kDtype>
inline std::uint32_t base_of_row(const std::uint8_t* exponents, std::uint32_t zeros) {
  std::uint32_t sum = 0;
  for (int at = 0; at < kRowValues; ++at) sum += exponents[at];
  return base_of<kDtype>(sum, kRowValues - zeros);
}

// Computes symbols. In a kind with zeros the exponent 0 is a symbol of its own.
inline void take_symbols(const std::uint8_t* exponents, std::uint8_t base, bool has_zeros,
                         std::uint8_t* symbols) {
  constexpr std::uint8_t kFar = kFarSymbol;
  for (int at = 0; at < kRowValues; ++at) {
    const auto distance = static_cast<std::uint8_t>(exponents[at] - base);
    symbols[at] = distance < kFar ? distance : kFar;
  }
  const std::uint8_t zero = has_zeros ? kZeroSymbol : 0;
  for (int at = 0; at < kRowValues; ++at) {
    const std::uint8_t its = exponents[at] == 0 ? zero : std::uint8_t{0};
    symbols[at] = symbols[at] < its ? its : symbols[at];
  }
}

// How many symbols of `count`, whole rows, there are of each sort.
inline std::array<std::uint32_t, kZeroSymbol + 1> count_symbols(const std::uint8_t* symbols,
                                                                std::uint32_t count) {
  constexpr int kLanes = 64;
  std::array<std::uint32_t, kZeroSymbol + 1> totals{};
  for (std::uint8_t symbol = 0; symbol <= kZeroSymbol; ++symbol) {
    std::array<std::uint8_t, kLanes> found{};  // kMostValues / kLanes fits a byte
    for (std::uint32_t at = 0; at < count; at += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint8_t one = symbols[at + lane] == symbol ? 1 : 0;
        found[lane] = static_cast<std::uint8_t>(found[lane] + one);
      }
    }
    for (const std::uint8_t number : found) totals[symbol] += number;
  }
  return totals;
}

// How many symbols have a code with `flag`.
inline std::uint32_t count_flags(const std::array<std::uint32_t, kZeroSymbol + 1>& totals,
                                 unsigned kind, unsigned flag) {
  const CodeTable table = code_table(kind);
  std::uint32_t count = 0;
  for (unsigned symbol = 0; symbol <= kZeroSymbol; ++symbol) {
    const std::uint64_t codes = symbol < 8 ? table.low : table.high;
    count += (codes >> (8 * (symbol % 8)) & flag) != 0 ? totals[symbol] : 0;
  }
  return count;
}

// The byte of `table` that an index below 8 names, 0 for others. By comparisons, because table
// look-ups keep compilers from vectors, and of eight at a time, because more do so too.
template <std::size_t... kIndices>
inline std::uint8_t look_up(std::uint64_t table, std::uint8_t index,
                            std::index_sequence<kIndices...>) {
  // Conditional expressions would become a chain of branches.
  const auto where_same = [=](std::uint8_t same) {
    const auto mask = static_cast<std::uint8_t>(-static_cast<int>(index == same));
    return static_cast<std::uint8_t>(mask & static_cast<std::uint8_t>(table >> (8 * same)));
  };
  return static_cast<std::uint8_t>((where_same(kIndices) | ...));
}

// Replaces indices below 16 by what they stand for.
inline void look_up_row(std::uint64_t low, std::uint64_t high, std::uint8_t* row) {
  constexpr auto kEight = std::make_index_sequence<8>();
  std::array<std::uint8_t, kRowValues> found;
  for (int at = 0; at < kRowValues; ++at) found[at] = look_up(low, row[at], kEight);
  for (int at = 0; at < kRowValues; ++at) {
    const auto above = static_cast<std::uint8_t>(row[at] - 8);
    row[at] = static_cast<std::uint8_t>(found[at] | look_up(high, above, kEight));
  }
}

// ---- Between the orders ----

// The bytes of group `group` of a row in plain order.
template <Dtype kDtype>
inline std::uint64_t group_bytes(const std::uint8_t* row, int group) {
  const auto* bytes = reinterpret_cast<const std::byte*>(row);
  if constexpr (kDtype == Dtype::kF32) {
    return load<std::uint32_t>(bytes + 4 * group) |
           std::uint64_t{load<std::uint32_t>(bytes + kRowValues / 2 + 4 * group)} << 32;
  }
  return load<std::uint64_t>(bytes + 8 * group);
}

template <Dtype kDtype>
inline void put_group_bytes(std::uint8_t* row, int group, std::uint64_t value) {
  auto* bytes = reinterpret_cast<std::byte*>(row);
  if constexpr (kDtype == Dtype::kF32) {
    store(bytes + 4 * group, static_cast<std::uint32_t>(value));
    store(bytes + kRowValues / 2 + 4 * group, static_cast<std::uint32_t>(value >> 32));
  } else {
    store(bytes + 8 * group, value);
  }
}

}  // namespace thinwire::codec::expack
