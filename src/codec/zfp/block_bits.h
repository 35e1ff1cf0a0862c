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
    int word = 0;
    for (; block_bits >= 64; block_bits -= 64) word = put_word(word, stream.get(64));
    if (block_bits > 0) word = put_word(word, stream.get(block_bits));
    for (int i = 0; i < kWordsBehind; ++i) word_[word + i] = 0;
    seek(0);
  }

  // The next 32 bits and perhaps more; zeros behind the end of the block.
  std::uint64_t window() const { return pending_; }

  // 0 to 32 bits.
  void skip(int bits) {
    pending_ >>= bits;
    left_ -= bits;
    if (left_ >= 32) return;
    pending_ |= std::uint64_t{word_[next_++]} << left_;
    left_ += 32;
  }

  std::uint32_t take_word() {
    const auto word = static_cast<std::uint32_t>(pending_);
    skip(32);
    return word;
  }

  int position() const { return 32 * next_ - left_; }

  void seek(int position) {
    next_ = position / 32;
    const std::uint64_t low = word_[next_++];
    pending_ = (low | std::uint64_t{word_[next_++]} << 32) >> position % 32;
    left_ = 64 - position % 32;
  }

 private:
  // A plane that begins in the block may be read to its end, 128 bits on, and some words ahead.
  static constexpr int kWordsBehind = 8;

  int put_word(int at, std::uint64_t word) {
    word_[at] = static_cast<std::uint32_t>(word);
    word_[at + 1] = static_cast<std::uint32_t>(word >> 32);
    return at + 2;
  }

  std::uint32_t word_[2 * kMaxBlockWords + kWordsBehind];
  std::uint64_t pending_;
  int left_;  // bits of pending_, 32 to 64
  int next_;  // word
};

// The same for blocks of up to kMaxShortWordBits bits, in one word.
inline constexpr int kMaxShortWordBits = 64;

class ShortBlockWriter {
 public:
  explicit ShortBlockWriter(int block_bits) : bits_(block_bits) {}

  void put(std::uint64_t value, int bits) {
    if (at_ < 64) word_ |= value << at_;
    at_ += bits;
  }

  bool full() const { return at_ >= bits_; }

  void finish(BitWriter& stream, int block_bits) {
    stream.put(word_ & low_bits_mask(block_bits), block_bits);
  }

 private:
  std::uint64_t word_ = 0;
  int at_ = 0;
  int bits_;
};

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
