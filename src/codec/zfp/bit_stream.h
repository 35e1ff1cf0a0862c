// Fields of up to 64 bits, one after the other in 64-bit words, each from its lowest bit on.
#pragma once

#include "base/bytes.h"
#include "codec/zfp/bits.h"

namespace thinwire::codec::zfp {

class BitWriter {
 public:
  // Writes to `at`, at any alignment, whole words only.
  explicit BitWriter(std::byte* at) : at_(at) {}

  // Appends the low `bits` bits of `value`, 1 to 64; those above must be 0.
  void put(std::uint64_t value, int bits) {
    pending_ |= value << filled_;
    filled_ += bits;
    if (filled_ < 64) return;
    store(at_, pending_);
    at_ += 8;
    filled_ -= 64;
    pending_ = filled_ == 0 ? 0 : value >> (bits - filled_);
  }

  // Writes the last word, with zeros in what it lacks.
  void finish() {
    if (filled_ != 0) store(at_, pending_);
  }

 private:
  std::byte* at_;
  std::uint64_t pending_ = 0;
  int filled_ = 0;  // bits of pending_, below 64
};

class BitReader {
 public:
  // Reads from `at`, at any alignment, no word before a bit of it is asked for.
  explicit BitReader(const std::byte* at) : at_(at) {}

  // The next `bits` bits, 1 to 64.
  std::uint64_t get(int bits) {
    std::uint64_t value = pending_;
    if (bits <= left_) {
      pending_ >>= bits;
      left_ -= bits;
    } else {
      const auto word = load<std::uint64_t>(at_);
      at_ += 8;
      value |= word << left_;
      const int used = bits - left_;
      pending_ = used == 64 ? 0 : word >> used;
      left_ = 64 - used;
    }
    return value & low_bits_mask(bits);
  }

 private:
  const std::byte* at_;
  std::uint64_t pending_ = 0;
  int left_ = 0;  // bits of pending_, below 64
};

}  // namespace thinwire::codec::zfp
