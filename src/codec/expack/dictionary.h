// Exponents as places in a dictionary, on the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include "codec/expack/choices.h"
#include "codec/expack/rows.h"

namespace thinwire::codec::expack {

// Marks a place of a raw exponent; above the bits of a place.
inline constexpr unsigned kRawPlace = 0x80;

struct Dictionary {
  std::array<std::uint8_t, kDictionarySize> exponents{};
  std::uint32_t size = 0;  // how many of them are in use
  unsigned width = kWidths;
};

// The most frequent exponents first, as many as there are, and how many values the first n have.
struct Ranking {
  std::array<std::uint8_t, kDictionarySize> exponents{};
  std::array<std::uint32_t, kDictionarySize + 1> sums{};
  std::uint32_t size = 0;
};

inline Ranking rank_exponents(const ByteRows& exponents, std::uint32_t values) {
  // Counts are in four parts: a single one would wait for itself if neighbours are alike.
  std::array<std::array<std::uint16_t, 256>, 4> counts{};
  for (std::uint32_t at = 0; at < values; at += 4) {
    for (std::uint32_t part = 0; part < 4; ++part) ++counts[part][exponents[at + part]];
  }
  // The lower one of two exponents comes first if their counts are the same.
  std::array<std::uint32_t, 256> ranks;
  std::uint32_t present = 0;
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
    const std::uint32_t count =
        counts[0][exponent] + counts[1][exponent] + counts[2][exponent] + counts[3][exponent];
    ranks[present] = count << 8 | (255 - exponent);
    present += count > 0 ? 1 : 0;
  }
  Ranking ranking;
  ranking.size = std::min<std::uint32_t>(present, kDictionarySize);
  auto* const last = ranks.begin() + ranking.size;
  std::partial_sort(ranks.begin(), last, ranks.begin() + present, std::greater<>());
  for (std::uint32_t place = 0; place < kDictionarySize; ++place) {
    const std::uint32_t rank = place < ranking.size ? ranks[place] : 0;
    ranking.exponents[place] = static_cast<std::uint8_t>(255 - rank % 256);
    ranking.sums[place + 1] = ranking.sums[place] + rank / 256;
  }
  return ranking;
}

// Makes the dictionary of a chunk; its width is kWidths if none pays.
inline Dictionary make_dictionary(const ByteRows& exponents, std::uint32_t rows,
                                  std::uint32_t outer_bits, std::uint32_t raw_exponents) {
  const Ranking ranking = rank_exponents(exponents, rows * kRowValues);
  const auto [width, raw] = dictionary_size(
      rows, outer_bits, raw_exponents, [&](std::uint32_t places) { return ranking.sums[places]; });
  Dictionary dictionary;
  dictionary.width = width;
  if (width == kWidths) return dictionary;
  dictionary.size = std::min(ranking.size, (1u << width) - (raw > 0 ? 1 : 0));
  std::copy_n(ranking.exponents.begin(), dictionary.size, dictionary.exponents.begin());
  return dictionary;
}

// The place of each exponent.
inline void find_places(const Dictionary& dictionary, const ByteRows& exponents,
                        std::uint32_t values, ByteRows& places) {
  std::array<std::uint8_t, 256> place_of;
  place_of.fill(static_cast<std::uint8_t>(kRawPlace | ((1u << dictionary.width) - 1)));
  for (std::uint32_t place = 0; place < dictionary.size; ++place) {
    place_of[dictionary.exponents[place]] = static_cast<std::uint8_t>(place);
  }
  for (std::uint32_t at = 0; at < values; ++at) places[at] = place_of[exponents[at]];
}

template <Dtype kDtype>
inline void put_places(const ByteRows& places, std::uint32_t rows, unsigned width, std::byte* out) {
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (int group = 0; group < kRowGroups; ++group) {
      const std::uint64_t bytes = group_bytes<kDtype>(places.data() + row * kRowValues, group);
      for (unsigned bit = 0; bit < width; ++bit) {
        *out++ = static_cast<std::byte>(join_bits(bytes >> bit));
      }
    }
  }
}

template <Dtype kDtype>
inline void take_places(const std::byte* in, std::uint32_t rows, unsigned width, ByteRows& places) {
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (int group = 0; group < kRowGroups; ++group) {
      std::uint64_t bytes = 0;
      for (unsigned bit = 0; bit < width; ++bit) {
        bytes |= split_bits(static_cast<std::uint8_t>(*in++)) << bit;
      }
      put_group_bytes<kDtype>(places.data() + row * kRowValues, group, bytes);
    }
  }
}

}  // namespace thinwire::codec::expack
