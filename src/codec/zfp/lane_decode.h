// The plane decoder of plane_coder.h for one block of a group on the host: a plane at a time, its
// bits together. See spec/codec-zfp.md, "Planes".
#pragma once

#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "codec/zfp/bits.h"
#include "codec/zfp/block_bits.h"
#include "codec/zfp/group.h"
#include "codec/zfp/plane_tables.h"

namespace thinwire::codec::zfp {

// The bits of one block. They lie in words of which some after the block may be read too.
struct BlockBits {
  const std::byte* words;
  unsigned at;   // the next bit
  unsigned end;  // just after the block's last one

  static BlockBits of(const BlockBits& bits) { return bits; }

  // The bits that are left; less than 0 past the block's end.
  int left() const { return static_cast<int>(end) - static_cast<int>(at); }
  void skip(int count) { at += static_cast<unsigned>(count); }
  // 1 to 64 bits.
  void skip_plane(int count) { skip(count); }

  // The next bits, zeros from the block's end on: 64, or 57 if that is enough.
  template <bool kIsLong>
  std::uint64_t window() const {
    std::uint64_t bits = 0;
    if constexpr (kIsLong) {
      const std::byte* from = words + at / 64 * 8;
      const unsigned shift = at % 64;
      bits = load<std::uint64_t>(from) >> shift | load<std::uint64_t>(from + 8)
                                                      << 1 << (63 - shift);
    } else {
      bits = load<std::uint64_t>(words + at / 8) >> at % 8;
    }
    if (at + 64 > end) bits &= low_bits_mask(at < end ? static_cast<int>(end - at) : 0);
    return bits;
  }
};

// The same of a block of up to 64 bits.
struct WordBits {
  std::uint64_t bits;  // zeros from the block's end on
  int remaining;

  static WordBits of(const BlockBits& bits) {
    return {bits.window<true>(), static_cast<int>(bits.end - bits.at)};
  }

  int left() const { return remaining; }
  // Fewer than 64.
  void skip(int count) {
    bits >>= count;
    remaining -= count;
  }
  void skip_plane(int count) {
    bits = bits >> (count - 1) >> 1;
    remaining -= count;
  }
  template <bool kIsLong>
  std::uint64_t window() const {
    return bits;
  }
};

// Reads blocks that follow one another in a stream, from the stream's own memory.
class LaneReader {
 public:
  LaneReader(const std::byte* stream, std::uint64_t bytes) : stream_(stream), left_(bytes) {}

  // The next block, of `block_bits` bits; it is there until the second call after this.
  BlockBits next(int block_bits) {
    const std::uint64_t words = next_ / 64;
    stream_ += 8 * words;
    left_ -= 8 * words;
    const auto at = static_cast<unsigned>(next_ % 64);
    const unsigned end = at + static_cast<unsigned>(block_bits);
    next_ = end;
    if (left_ >= sizeof copy_[0]) return {stream_, at, end};
    is_second_ = !is_second_;
    std::byte* const copy = copy_[is_second_ ? 1 : 0];
    std::memset(copy, 0, sizeof copy_[0]);
    std::memcpy(copy, stream_, left_);
    return {copy, at, end};
  }

 private:
  // Words of a block, of the bits before it in its first word, and of those read after it: a plane
  // that begins in it, and a window.
  static constexpr int kWords = kMaxBlockWords + 6;

  const std::byte* stream_;
  std::uint64_t left_;      // bytes from there on
  std::uint64_t next_ = 0;  // bit from there on where the next block begins
  bool is_second_ = false;
  std::byte copy_[2][8 * kWords];
};

// A plane of which the first n coefficients may have ones already, fewer than all.
template <int kValues, typename Bits>
inline std::uint64_t get_plane(const SearchTable& table, Bits& block, int& n) {
  constexpr bool kIsLong = kValues > 16;
  std::uint64_t window = block.template window<kIsLong>();
  std::uint64_t plane = window & low_bits_mask(n);
  const bool found = (window >> n & 1) != 0;
  int used = n + 1;
  const auto get_step = [&] {
    if constexpr (kIsLong) {
      if (used > 64 - kSearchBits) {
        block.skip(used);
        window = block.template window<kIsLong>();
        used = 0;
      }
    }
    return std::uint32_t{table.entry[smaller(kValues - 1 - n, kSearchBits + 1)]
                                    [window >> used & ((1u << kSearchBits) - 1)]};
  };
  const auto take = [&](std::uint32_t step) {
    plane |= std::uint64_t{search_ones(step)} << n;
    n += search_passed(step);
    used += search_read(step);
  };
  std::uint32_t step = kSearchEnds;
  // The first step without a branch, for whether there is one cannot be foreseen. In blocks of four
  // there is mostly none.
  if (kValues > 4 || found) {
    const std::uint32_t first = get_step();
    step = found ? first : kSearchEnds;
    take(step);
  }
  while ((step & kSearchEnds) == 0) {
    step = get_step();
    take(step);
  }
  block.skip(used);
  // A search that meets the zeros after the block's end gets to the last coefficient; the one it
  // has found is that where the zeros began.
  if (found && n == kValues && block.left() < 0) {
    plane ^= std::uint64_t{1} << (kValues - 1);
    plane |= std::uint64_t{1} << (kValues - 1 + block.left());
  }
  return plane;
}

// Reads the planes of a block down to plane `last` into those of block `lane`, all 0 before. Any
// bits are a stream. Returns a plane below which none has ones.
template <int kPlanes, typename Bits, typename Group>
inline int get_lane(const SearchTable& table, Bits block, int last, Group& group, int lane) {
  constexpr int kValues = Group::kValues;
  constexpr bool kIsLong = kValues > 16;
  // Planes without ones are a zero each, as long as there is nothing to say verbatim.
  const std::uint64_t window = block.template window<kIsLong>();
  const int zeros = window != 0 ? trailing_zeros(window) : 32;
  block.skip(zeros);
  int k = kPlanes - 1 - zeros;
  int n = 0;
  while (k >= last && n < kValues && block.left() > 0) {
    if constexpr (kValues > 4) {
      set_plane(group, static_cast<unsigned>(k--), lane, get_plane<kValues>(table, block, n));
    } else {
      // As many planes as are surely whole in a window.
      constexpr int kPlaneBits = 2 * kValues + 1;
      WordBits part = {block.template window<false>(), block.left()};
      const int begin = part.remaining;
      do {
        set_plane(group, static_cast<unsigned>(k--), lane, get_plane<kValues>(table, part, n));
      } while (k >= last && n < kValues && part.remaining > 0 &&
               begin - part.remaining <= 57 - kPlaneBits);
      block.skip(begin - part.remaining);
    }
  }
  // Planes are plain bits from here on.
  constexpr int kAtOnce = kIsLong ? 1 : 56 / kValues;
  while (k >= last && block.left() > 0) {
    std::uint64_t planes = block.template window<kIsLong>();
    for (int i = 0; i < kAtOnce && k >= last; ++i, --k) {
      set_plane(group, static_cast<unsigned>(k), lane, planes & low_bits_mask(kValues));
      if constexpr (!kIsLong) planes >>= kValues;
    }
    block.skip(kAtOnce * kValues);
  }
  return k < 0 ? 0 : k + 1;
}

}  // namespace thinwire::codec::zfp
