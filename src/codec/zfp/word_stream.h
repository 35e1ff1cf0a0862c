// The bits of one block inside words of 32 bits that neighbouring blocks may share: what a GPU's
// threads write and read in shared memory.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/bits.h"

namespace thinwire::codec::zfp {

// The 32 bits from bit `shift` modulo 32 on of the two words.
THINWIRE_HOST_DEVICE inline std::uint32_t joined_words(std::uint32_t low, std::uint32_t high,
                                                       std::uint32_t shift) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(low, high, shift);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> (shift & 31));
#endif
}

// The upper of the two words that `word` becomes when it moves up by `shift` modulo 32 bits.
THINWIRE_HOST_DEVICE inline std::uint32_t upper_word(std::uint32_t word, std::uint32_t shift) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(word, 0, shift);
#else
  return static_cast<std::uint32_t>((std::uint64_t{word} << (shift & 31)) >> 32);
#endif
}
THINWIRE_HOST_DEVICE inline std::uint32_t lower_word(std::uint32_t word, std::uint32_t shift) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(0, word, shift);
#else
  return word << (shift & 31);
#endif
}

// kApart: no word of the block has bits of another. Otherwise words are added to, and must be 0.
template <bool kApart>
class WordWriter {
 public:
  // Writes bits first_bit to first_bit + bits - 1 of `words`.
  THINWIRE_HOST_DEVICE WordWriter(std::uint32_t* words, std::uint32_t first_bit, int bits)
      : words_(words), at_(first_bit), end_(first_bit + static_cast<std::uint32_t>(bits)) {}

  // Appends the low `bits` bits of `value`, 0 to 32, or what of them fits; those above must be 0.
  THINWIRE_HOST_DEVICE void put(std::uint32_t value, int bits) {
    pending_ |= lower_word(value, at_);
    const std::uint32_t at = at_ + static_cast<std::uint32_t>(bits);
    const bool is_full = ((at_ ^ at) & 32) != 0;
    emit(is_full);
    pending_ = is_full ? upper_word(value, at_) : pending_;
    at_ = at;
  }

  // The same for 0 to 64 bits.
  THINWIRE_HOST_DEVICE void put(std::uint64_t value, int bits) {
    auto part = static_cast<std::uint32_t>(value);
    if (bits > 32) {
      pending_ |= lower_word(part, at_);
      emit(true);
      pending_ = upper_word(part, at_);
      at_ += 32;
      part = static_cast<std::uint32_t>(value >> 32);
      bits -= 32;
    }
    put(part, bits);
  }

  THINWIRE_HOST_DEVICE bool full() const { return at_ >= end_; }

  // Writes what is left, and zeros for what the block lacks.
  THINWIRE_HOST_DEVICE void finish() {
    emit(at_ % 32 != 0);
    if constexpr (kApart) {
      for (at_ = (at_ + 31) / 32 * 32; at_ < end_; at_ += 32) words_[at_ / 32] = 0;
    }
  }

 private:
  // If `is_full`, stores the word that has bit at_. Without branches if words are the block's own.
  THINWIRE_HOST_DEVICE void emit(bool is_full) {
    if constexpr (kApart) {
      if (is_full & (at_ < end_)) words_[at_ / 32] = pending_;
    } else if (is_full) {
      add_word();
    }
  }

  THINWIRE_HOST_DEVICE void add_word() {
    const std::uint32_t begin = at_ / 32 * 32;
    if (begin >= end_) return;
    const std::uint32_t left = end_ - begin;
    const std::uint32_t word = left >= 32 ? pending_ : pending_ & ~(~0u << left);
#if defined(__CUDA_ARCH__)
    atomicOr(words_ + at_ / 32, word);
#else
    words_[at_ / 32] |= word;
#endif
  }

  std::uint32_t* words_;
  std::uint32_t pending_ = 0;  // of the word that has bit at_: those before the block's are 0
  std::uint32_t at_;
  std::uint32_t end_;
};

class WordReader {
 public:
  // Reads from bit `first_bit` of the `count` words at `words` on. Words after the last one are
  // never read: the last one is read in their stead.
  THINWIRE_HOST_DEVICE WordReader(const std::uint32_t* words, std::uint32_t count,
                                  std::uint32_t first_bit)
      : words_(words), last_(static_cast<int>(count) - 1) {
    seek(first_bit);
  }

  // The next 32 bits; past the block's end they are any.
  THINWIRE_HOST_DEVICE std::uint32_t window() const { return joined_words(low_, high_, at_); }

  // 0 to 32 bits.
  THINWIRE_HOST_DEVICE void skip(int bits) {
    const std::uint32_t at = at_ + static_cast<std::uint32_t>(bits);
    if (((at_ ^ at) & 32) != 0) {
      low_ = high_;
      high_ = word_behind(at);
    }
    at_ = at;
  }

  // The window, and 32 bits.
  THINWIRE_HOST_DEVICE std::uint32_t take_word() {
    const std::uint32_t word = window();
    at_ += 32;
    low_ = high_;
    high_ = word_behind(at_);
    return word;
  }

  THINWIRE_HOST_DEVICE std::uint32_t position() const { return at_; }

  THINWIRE_HOST_DEVICE void seek(std::uint32_t position) {
    at_ = position;
    low_ = words_[position / 32];
    high_ = word_behind(position);
  }

 private:
  THINWIRE_HOST_DEVICE std::uint32_t word_behind(std::uint32_t at) const {
    return words_[smaller(static_cast<int>(at / 32) + 1, last_)];
  }

  const std::uint32_t* words_;
  int last_;
  std::uint32_t low_;
  std::uint32_t high_;
  std::uint32_t at_;
};

}  // namespace thinwire::codec::zfp
