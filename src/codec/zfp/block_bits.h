// The bits of one block on the host, as the plane coder writes and reads them, in words of 64 bits.
#pragma once

#include <cstdint>

#include "codec/zfp/bit_stream.h"
#include "codec/zfp/bits.h"

namespace thinwire::codec::zfp {

inline constexpr int kMaxBlockWords = 64;

class BlockWriter {
 public:
  explicit BlockWriter(int block_bits) : left_(block_bits) {}

  // Appends the low `bits` bits of `value`, 0 to 64; those above must be 0. Once full() nothing
  // more may be put.
  void put(std::uint64_t value, int bits) {
    pending_ |= value << filled_;
    filled_ += bits;
    left_ -= bits;
    if (filled_ < 64) return;
    word_[words_++] = pending_;
    filled_ -= 64;
    pending_ = filled_ == 0 ? 0 : value >> (bits - filled_);
  }

  bool full() const { return left_ <= 0; }

  // Appends the block to `stream`: what was put beyond its end is cut off, what was not is zeros.
  void finish(BitWriter& stream, int block_bits) {
    word_[words_++] = pending_;
    const int whole = block_bits / 64;
    while (words_ <= whole) word_[words_++] = 0;
    for (int i = 0; i < whole; ++i) stream.put(word_[i], 64);
    if (block_bits % 64 != 0) {
      stream.put(word_[whole] & low_bits_mask(block_bits % 64), block_bits % 64);
    }
  }

 private:
  // What follows a group test may reach past the end by 128 bits.
  std::uint64_t word_[kMaxBlockWords + 4];
  std::uint64_t pending_ = 0;
  int words_ = 0;
  int filled_ = 0;  // bits of pending_, below 64
  int left_;
};

class BlockReader {
 public:
  // Takes the next `block_bits` bits out of `stream`.
  BlockReader(BitReader& stream, int block_bits) {
    const int whole = block_bits / 64;
    for (int i = 0; i < whole; ++i) word_[i] = stream.get(64);
    word_[whole] = block_bits % 64 == 0 ? 0 : stream.get(block_bits % 64);
    for (int i = 1; i < 5; ++i) word_[whole + i] = 0;
  }

  // The next 64 bits; zeros behind the end of the block.
  std::uint64_t window() const {
    const int shift = at_ % 64;
    return word_[at_ / 64] >> shift | word_[at_ / 64 + 1] << 1 << (63 - shift);
  }
  void skip(int bits) { at_ += bits; }

  int position() const { return at_; }
  void seek(int position) { at_ = position; }

 private:
  // A plane that begins in the block may be read to its end, 128 bits on.
  std::uint64_t word_[kMaxBlockWords + 5];
  int at_ = 0;
};

}  // namespace thinwire::codec::zfp
