// The bits of one block on the host, in words of 64 bits.
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

  // The same without a branch, for lengths of which it cannot be foreseen when they fill a word.
  void put_any(std::uint64_t value, int bits) {
    const std::uint64_t above = value >> 1 >> (63 - filled_);
    word_[words_] = pending_ | value << filled_;
    filled_ += bits;
    left_ -= bits;
    const bool is_full = filled_ >= 64;
    pending_ = is_full ? above : word_[words_];
    words_ += is_full ? 1 : 0;
    filled_ &= 63;
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
  // The bits after a group test may reach past the end by 128 bits.
  std::uint64_t word_[kMaxBlockWords + 4];
  std::uint64_t pending_ = 0;
  int words_ = 0;
  int filled_ = 0;  // bits of pending_, below 64
  int left_;
};

// Reads a block of up to 64 bits, as plane_coder.h does.
class ShortBlockReader {
 public:
  ShortBlockReader(BitReader& stream, int block_bits)
      : word_(stream.get(block_bits)), pending_(word_) {}

  std::uint64_t window() const { return pending_; }
  void skip(int bits) {
    pending_ >>= bits;
    at_ += bits;
  }
  std::uint32_t take_word() {
    const auto word = static_cast<std::uint32_t>(pending_);
    skip(32);
    return word;
  }

  int position() const { return at_; }
  void seek(int position) {
    pending_ = word_ >> position;
    at_ = position;
  }

 private:
  std::uint64_t word_;
  std::uint64_t pending_;
  int at_ = 0;
};

}  // namespace thinwire::codec::zfp
