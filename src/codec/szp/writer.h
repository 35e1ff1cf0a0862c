// A payload as it is written on the host.
#pragma once

#include "base/bytes.h"

namespace thinwire::codec::szp {

// Writes words, bits from the lowest on. Writing bits touches up to 4 bytes after them: a payload
// that is not stored raw leaves as much of its room.
class Writer {
 public:
  explicit Writer(std::byte* out) : out_(out), begin_(out) {}

  // Writes `count` bits, at most 64; above them `value` has zeros.
  void bits(std::uint64_t value, std::uint32_t count) {
    const std::uint64_t all = rest_ | value << filled_;
    // Written always, kept if it is full: no branch on the data.
    store(out_, all);
    const std::uint32_t end = filled_ + count;
    const bool is_full = end >= 64;
    rest_ = is_full ? value >> 1 >> (63 - filled_) : all;
    out_ += is_full ? 8 : 0;
    filled_ = end % 64;
  }
  void end_word() {
    if (filled_ > 0) word(static_cast<std::uint32_t>(rest_));
    if (filled_ > 32) word(static_cast<std::uint32_t>(rest_ >> 32));
    rest_ = filled_ = 0;
  }
  // Writes a word; no bits may be waiting for the rest of theirs.
  void word(std::uint32_t value) {
    store(out_, value);
    out_ += 4;
  }
  template <typename Bits>
  void value(Bits value) {
    store(out_, value);
    out_ += sizeof value;
  }
  std::uint64_t written() const { return static_cast<std::uint64_t>(out_ - begin_); }

 private:
  std::byte* out_;
  std::byte* begin_;
  std::uint64_t rest_ = 0;
  std::uint32_t filled_ = 0;
};

}  // namespace thinwire::codec::szp
