// A payload of the ans codec in its parts, by a plain reading of spec/codec-ans.md: a byte at a
// time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace thinwire::codec::testing {

using AnsPlane = std::vector<std::uint8_t>;

inline constexpr std::uint32_t kAnsLeast = 1u << 15;

// Choices that an encoder may make otherwise, and some that none may.
struct AnsWays {
  int coded = -1;      // a bit of each plane that is coded, whatever that gains
  bool dense = false;  // not sparse
  std::uint32_t state = kAnsLeast;
  bool gives_at_once = false;  // a word at each lane's first byte, so that its state is too small
  bool gives_never = false;    // so that states become too large
};

struct AnsTable {
  std::array<unsigned, 256> frequencies{};
  std::vector<std::uint8_t> bytes;
  bool leaves_rest = true;
};

struct AnsParts {
  std::uint64_t head = 0;
  std::vector<std::uint8_t> tables;
  std::vector<AnsPlane> stored;
  std::vector<std::uint32_t> states;
  std::vector<std::uint16_t> words;

  std::vector<std::byte> payload() const {
    std::vector<std::byte> out;
    const auto put = [&](const void* from, std::size_t size) {
      const auto* bytes = static_cast<const std::byte*>(from);
      out.insert(out.end(), bytes, bytes + size);
    };
    const auto put_filled_up = [&](const AnsPlane& bytes) {
      put(bytes.data(), bytes.size());
      out.resize((out.size() + 3) / 4 * 4);
    };
    put(&head, 8);
    put_filled_up(tables);
    for (const AnsPlane& plane : stored) put_filled_up(plane);
    put(states.data(), 4 * states.size());
    put(words.data(), 2 * words.size());
    return out;
  }
};

template <typename Word>
std::vector<Word> ans_words(const std::vector<Word>& values, std::size_t tuple) {
  constexpr int kBits = 8 * sizeof(Word);
  constexpr auto kBelow = static_cast<Word>((std::uint64_t{1} << (kBits - 1)) - 1);
  const auto rotated = [&](std::size_t at) { return std::rotl(values[at], 1); };
  std::vector<Word> words(values.size());
  for (std::size_t at = 0; at < values.size(); ++at) {
    words[at] = rotated(at);
    if (tuple == 0) continue;
    const auto d = static_cast<Word>(rotated(at) - (at < tuple ? Word{0} : rotated(at - tuple)));
    const auto twice = static_cast<Word>(d & ~Word{1});
    const bool is_negative = (d >> (kBits - 1)) != 0;
    const auto folded = static_cast<Word>((is_negative ? ~twice : twice) & kBelow);
    words[at] = static_cast<Word>(folded | static_cast<Word>(d << (kBits - 1)));
  }
  return words;
}

inline unsigned ans_meaning(unsigned code) {
  return code < 4 ? code : (4 + code % 4) << (code / 4 - 1);
}

inline unsigned ans_nearest(unsigned frequency) {
  unsigned best = 1;
  const auto distance = [&](unsigned code) {
    return std::abs(static_cast<int>(ans_meaning(code)) - static_cast<int>(frequency));
  };
  for (unsigned code = 2; code <= 40; ++code) {
    if (distance(code) < distance(best)) best = code;
  }
  return best;
}

inline std::array<std::size_t, 256> ans_counts(const AnsPlane& plane) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t byte : plane) ++counts[byte];
  return counts;
}

inline AnsTable ans_table(const AnsPlane& plane) {
  const auto counts = ans_counts(plane);
  const auto rest =
      static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  AnsTable table;
  std::array<unsigned, 256> codes{};
  unsigned others = 0;
  std::size_t least = 255, most = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (counts[byte] == 0) continue;
    least = std::min(least, byte);
    most = byte;
    const std::size_t near = (2048 * counts[byte] + plane.size() / 2) / plane.size();
    codes[byte] = byte == rest ? 63 : ans_nearest(std::max(static_cast<unsigned>(near), 1u));
    if (byte != rest) others += table.frequencies[byte] = ans_meaning(codes[byte]);
  }
  table.leaves_rest = others < 2048;
  table.frequencies[rest] = 2048 - others;
  const std::size_t first = least / 4, groups = most / 4 - first + 1;
  table.bytes = {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(groups)};
  for (std::size_t byte = 4 * first; byte < 4 * (first + groups); byte += 4) {
    const unsigned bits =
        codes[byte] | codes[byte + 1] << 6 | codes[byte + 2] << 12 | codes[byte + 3] << 18;
    for (int part = 0; part < 3; ++part) {
      table.bytes.push_back(static_cast<std::uint8_t>(bits >> 8 * part));
    }
  }
  return table;
}

inline bool ans_pays(const AnsPlane& plane, const AnsTable& table) {
  constexpr std::size_t kFourths[] = {0, 82, 150, 207};
  const auto counts = ans_counts(plane);
  std::size_t sum = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (counts[byte] == 0) continue;
    const unsigned f = table.frequencies[byte];
    const auto highest = static_cast<unsigned>(std::bit_width(f) - 1);
    sum += counts[byte] * (2816 - 256 * highest - kFourths[4 * f / (1u << highest) % 4]);
  }
  return 64 * (table.bytes.size() + (sum + 2047) / 2048) <= 63 * plane.size();
}

inline void ans_encode(const AnsPlane& plane, const AnsTable& table, const AnsWays& ways,
                       AnsParts& parts) {
  std::array<std::uint32_t, 257> starts{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    starts[byte + 1] = starts[byte] + table.frequencies[byte];
  }
  for (std::size_t at = 0; at < plane.size(); ++at) {
    const std::uint32_t frequency = table.frequencies[plane[at]];
    std::uint32_t& x = parts.states[at % 32];
    const bool is_large = x >= std::uint64_t{frequency} << 20;
    if ((is_large && !ways.gives_never) || (ways.gives_at_once && at < 32)) {
      parts.words.push_back(static_cast<std::uint16_t>(x));
      x >>= 16;
    }
    x = 2048 * (x / frequency) + x % frequency + starts[plane[at]];
  }
}

template <typename Word>
AnsParts ans_parts(const std::vector<Word>& values, std::size_t tuple, const AnsWays& ways = {}) {
  constexpr std::size_t kBytes = sizeof(Word);
  const auto byte = [](Word word, std::size_t plane) {
    return static_cast<std::uint8_t>(word >> 8 * (kBytes - 1 - plane));
  };
  const std::vector<Word> all = ans_words(values, tuple);
  std::vector<Word> kept;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept),
               [&](Word word) { return byte(word, 0) != 0; });
  const auto zeros = static_cast<std::size_t>(std::count(all.begin(), all.end(), Word{0}));
  const bool is_sparse =
      kBytes > 1 && zeros > 0 && zeros + kept.size() == all.size() && !ways.dense;
  if (!is_sparse) kept = all;
  AnsParts parts;
  parts.states.assign(32, ways.state);
  std::uint64_t coded = 0;
  bool has_states = false;
  for (std::size_t number = 0; number < kBytes; ++number) {
    AnsPlane plane;
    for (const Word word : number == 0 ? all : kept) plane.push_back(byte(word, number));
    std::optional<AnsTable> table;
    if (!plane.empty()) table = ans_table(plane);
    const auto is_wanted = [&] {
      return ways.coded < 0 ? ans_pays(plane, *table)
                            : (ways.coded >> static_cast<int>(number) & 1) != 0;
    };
    if (!table || !table->leaves_rest || !is_wanted()) {
      parts.stored.push_back(plane);
      continue;
    }
    coded |= std::uint64_t{1} << number;
    parts.tables.insert(parts.tables.end(), table->bytes.begin(), table->bytes.end());
    has_states |= std::count(table->frequencies.begin(), table->frequencies.end(), 0u) < 255;
    ans_encode(plane, *table, ways, parts);
  }
  if (!has_states) parts.states.clear();
  parts.head = parts.words.size() | kept.size() << 16 | coded << 32 |
               static_cast<std::uint64_t>(is_sparse) << 40;
  return parts;
}

}  // namespace thinwire::codec::testing
