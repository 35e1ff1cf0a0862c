// The bits of one block inside words of 32 bits that neighbouring blocks may share: what a GPU's
// threads write and read in shared memory.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "codec/zfp/bits.h"

namespace thinwire::codec::zfp {

class WordWriter {
 public:
  // Writes bits first_bit to first_bit + bits - 1 of `words`, all 0 so far; `is_apart` where no
  // word of them has bits of another block.
  THINWIRE_HOST_DEVICE WordWriter(std::uint32_t* words, std::uint32_t first_bit, int bits,
                                  bool is_apart)
      : at_(words + first_bit / 32),
        filled_(static_cast<int>(first_bit % 32)),
        left_(bits),
        is_apart_(is_apart) {}

  // Appends the low `bits` bits of `value`, 0 to 32, or what of them fits.
  THINWIRE_HOST_DEVICE void put(std::uint32_t value, int bits) {
    const int taken = smaller(bits, left_);
    const std::uint32_t mask = taken >= 32 ? ~0u : (1u << taken) - 1;
    pending_ |= static_cast<std::uint64_t>(value & mask) << filled_;
    filled_ += taken;
    left_ -= taken;
    if (filled_ >= 32) {
      emit();
      pending_ >>= 32;
      filled_ -= 32;
    }
  }

  // The same for 0 to 64 bits.
  THINWIRE_HOST_DEVICE void put(std::uint64_t value, int bits) {
    put(static_cast<std::uint32_t>(value), smaller(bits, 32));
    if (bits > 32) put(static_cast<std::uint32_t>(value >> 32), bits - 32);
  }

  THINWIRE_HOST_DEVICE bool full() const { return left_ <= 0; }

  // Writes the last word. What the block lacks stays 0.
  THINWIRE_HOST_DEVICE void finish() {
    if (filled_ > 0) emit();
  }

 private:
  THINWIRE_HOST_DEVICE void emit() {
    const auto word = static_cast<std::uint32_t>(pending_);
    if (is_apart_) {
      *at_ = word;
    } else {
#if defined(__CUDA_ARCH__)
      atomicOr(at_, word);
#else
      *at_ |= word;
#endif
    }
    ++at_;
  }

  std::uint32_t* at_;
  std::uint64_t pending_ = 0;
  int filled_;  // bits of pending_, below 32; those before the block's first are zeros
  int left_;    // bits of the block that are to come
  bool is_apart_;
};

// The most words that a WordReader reads behind the last one that has bits of its block.
inline constexpr int kReadAhead = 3;

// Plane: the window's word, 32 bits for blocks of up to 16 values.
template <typename Plane>
class WordReader {
 public:
  THINWIRE_HOST_DEVICE WordReader(const std::uint32_t* words, std::uint32_t first_bit)
      : at_(words + first_bit / 32), shift_(static_cast<int>(first_bit % 32)) {
    THINWIRE_UNROLL
    for (int i = 0; i < kWords; ++i) word_[i] = *at_++;
  }

  // The next bits; behind the block, whatever is there.
  THINWIRE_HOST_DEVICE Plane window() const {
    const std::uint32_t low = joined(word_[0], word_[1]);
    if constexpr (kWords == 2) {
      return low;
    } else {
      return low | static_cast<std::uint64_t>(joined(word_[1], word_[2])) << 32;
    }
  }

  // 0 to 32 bits, or 64 where the window has as many; not more than the block has.
  THINWIRE_HOST_DEVICE void skip(int bits) {
    shift_ += bits;
    THINWIRE_UNROLL
    for (int i = 0; i < kWords - 1; ++i) {
      if (shift_ < 32) return;
      advance();
      shift_ -= 32;
    }
  }

 private:
  static constexpr int kWords = sizeof(Plane) / 4 + 1;

  THINWIRE_HOST_DEVICE void advance() {
    word_[0] = word_[1];
    if constexpr (kWords == 3) word_[1] = word_[2];
    word_[kWords - 1] = *at_++;
  }

  THINWIRE_HOST_DEVICE std::uint32_t joined(std::uint32_t low, std::uint32_t high) const {
#if defined(__CUDA_ARCH__)
    return __funnelshift_r(low, high, static_cast<unsigned>(shift_));
#else
    return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> shift_);
#endif
  }

  const std::uint32_t* at_;
  std::uint32_t word_[kWords];
  int shift_;  // below 32
};

}  // namespace thinwire::codec::zfp
