// The plane coder of plane_coder.h for a list of planes of a block of 16 (plane_lists.h): the
// decoder takes runs of up to four planes that find no new coefficient at once. See
// spec/codec-zfp.md, "Planes".
#pragma once

#include <bit>
#include <cstdint>

#include "base/bytes.h"
#include "codec/zfp/bits.h"
#include "codec/zfp/plane_lists.h"
#include "codec/zfp/plane_tables.h"

namespace thinwire::codec::zfp {

inline constexpr std::uint64_t kEachOfFour = 0x0001000100010001;

// How many of four planes come before the first one that `found` names by any of its bits.
inline int planes_before(std::uint64_t found) { return std::countr_zero(found) / 16; }

// Four planes of `bits` bits each, of `code`, where they follow one another.
inline std::uint64_t split_four(std::uint64_t code, int bits) {
  const std::uint64_t mask = low_bits_mask(bits);
  return (code & mask) | (code >> bits & mask) << 16 | (code >> 2 * bits & mask) << 32 |
         (code >> 3 * bits & mask) << 48;
}

// ---- Encoding ----

// The bits of a plane that finds the coefficient that `rest`, what of it is not known yet, has
// highest: those of what is known, the test, and the search.
struct FoundCode {
  std::uint64_t bits;
  int length;
};

// Codes a plane after `known` coefficients; after it n are known.
inline FoundCode found_code(const ExpandTable& table, std::uint32_t plane, int known, int n) {
  constexpr std::uint32_t kStep = (1u << kExpandBits) - 1;
  const std::uint32_t rest = plane >> known;
  const std::uint32_t high = rest >> kExpandBits;
  const std::uint32_t first = table.entry[(rest & kStep) + (high != 0 ? 0 : kStep + 1)];
  const std::uint32_t second = table.entry[high + kStep + 1];
  const int length = static_cast<int>(first >> 24);
  const std::uint64_t search = (first & 0xffff) | (second & 0xffff) << length;
  const std::uint64_t code = (plane & ((1u << known) - 1)) | (search << 1 | 1) << known;
  // The last coefficient has no bit and no test.
  const int bits = known + 1 + length + static_cast<int>(second >> 24) - (n == 16 ? 2 : 0);
  return {code & low_bits_mask(bits), bits};
}

// Writes the planes of block `lane` until `writer` is full; those above `highest` have no ones.
template <int kPlanes, typename Group, typename Writer>
inline void put_list(const ExpandTable& table, Group& group, int lane, int highest,
                     Writer& writer) {
  const std::uint16_t* const list = group.list[lane];
  int at = kPlanes - 1 - highest;
  writer.put(0, at);
  int n = 0;
  const auto reach = [&](int end) {
    if (end > group.listed && group.listed < kPlanes) extend_lists(group);
  };
  while (at < kPlanes && n < 16 && !writer.full()) {
    reach(at + 1);
    const std::uint32_t plane = list[at++];
    if (plane >> n == 0) {
      writer.put_any(plane, n + 1);
      continue;
    }
    const int known = n;
    n = 32 - leading_zeros(plane);
    const FoundCode code = found_code(table, plane, known, n);
    writer.put_any(code.bits, code.length);
  }
  // Planes are plain bits from here on.
  for (; at < kPlanes && !writer.full(); at += 4) {
    reach(at + 4);
    writer.put(load<std::uint64_t>(reinterpret_cast<const std::byte*>(list + at)), 64);
  }
}

// ---- Decoding ----

// The search table for blocks of 16, by the coefficient where a search begins; and the tests of
// four planes after n coefficients are known: their places in a stream, and the place after them.
struct ListTables {
  std::uint16_t search[16][1 << kSearchBits];
  std::uint64_t tests[16];
  std::uint64_t end[16];
};

constexpr ListTables make_list_tables() {
  ListTables tables{};
  for (int n = 0; n < 16; ++n) {
    for (unsigned code = 0; code < 1u << kSearchBits; ++code) {
      tables.search[n][code] =
          static_cast<std::uint16_t>(search_bits(smaller(15 - n, kSearchBits + 1), code));
    }
    for (int i = 1; i <= 4; ++i) tables.tests[n] |= std::uint64_t{1} << (i * (n + 1) - 1);
    tables.end[n] = n < 15 ? std::uint64_t{1} << 4 * (n + 1) : 0;
  }
  return tables;
}

// A decoder of the planes of one block down to plane `last` into a list, all 0 before. Any bits are
// a stream. Each step is up to four planes that find no new coefficient and the plane after them,
// without branches that cannot be foreseen, so that two blocks may be decoded by turns, each while
// the other one waits.
template <int kPlanes, typename Bits>
class ListDecoder {
 public:
  ListDecoder(const Bits& block, int last, std::uint16_t* list)
      : block_(block), list_(list), end_(kPlanes - last) {
    // Planes without ones are a zero each, as long as there is nothing to say verbatim.
    const std::uint64_t first = block_.template window<true>();
    at_ = first != 0 ? std::countr_zero(first) : kPlanes;
    block_.skip(smaller(at_, 63));
  }

  bool searches() const { return at_ < end_ && n_ < 16 && block_.left() > 0; }

  void step(const ListTables& tables) {
    const std::uint64_t window = block_.template window<true>();
    const int test = std::countr_zero((window & tables.tests[n_]) | tables.end[n_]);
    const bool is_found = test < 4 * (n_ + 1);
    const std::uint64_t four = split_four(window, n_ + 1);
    const std::uint64_t ones = kEachOfFour << n_;
    const int run = planes_before(four & ones);
    // Those after the run are not whole, and written again or cleared.
    set_four(four & ~ones);
    at_ += run;
    block_.skip_plane(test + (is_found ? 1 : 0));
    search(tables, is_found);
    at_ += is_found ? 1 : 0;
  }

  // Reads planes of plain bits, and clears what was written after the last plane. Returns how many
  // of the list may have ones.
  int finish() {
    // A search that met the zeros after the block's end got to the last coefficient; the one it
    // has found is that where the zeros began.
    if (n_ == 16 && block_.left() < 0) list_[at_ - 1] ^= (1u << 15) ^ (1u << (15 + block_.left()));
    for (; at_ < end_ && block_.left() > 0; at_ += 4) {
      set_four(block_.template window<true>());
      block_.skip_plane(64);
    }
    at_ = smaller(at_, end_);
    set_four(0);
    return at_;
  }

 private:
  void set_four(std::uint64_t four) { store(reinterpret_cast<std::byte*>(list_ + at_), four); }

  // Adds to the plane what follows a positive test at coefficient n.
  void search(const ListTables& tables, bool is_found) {
    constexpr std::uint32_t kStep = (1u << kSearchBits) - 1;
    const std::uint64_t window = block_.template window<false>();
    const std::uint32_t first = tables.search[n_][window & kStep];
    std::uint32_t step = is_found ? first : kSearchEnds;
    std::uint32_t ones = search_ones(step) << n_;
    n_ += search_passed(step);
    int used = search_read(step);
    while ((step & kSearchEnds) == 0) {
      step = tables.search[n_][window >> used & kStep];
      ones |= search_ones(step) << n_;
      n_ += search_passed(step);
      used += search_read(step);
    }
    block_.skip(used);
    // After a run of four it is no plane yet.
    list_[at_] = static_cast<std::uint16_t>(list_[at_] | ones);
  }

  Bits block_;
  std::uint16_t* list_;
  int end_;
  int at_;
  int n_ = 0;
};

// Reads the planes of two blocks.
template <typename Decoder>
inline void get_two_lists(const ListTables& tables, Decoder& a, Decoder& b) {
  while (a.searches() && b.searches()) {
    a.step(tables);
    b.step(tables);
  }
  while (a.searches()) a.step(tables);
  while (b.searches()) b.step(tables);
}

}  // namespace thinwire::codec::zfp
