// A payload as it is written on the host.
#pragma once

#include "base/bytes.h"

namespace thinwire::codec::szp {

// Words, bits from the lowest on.
class Writer {
 public:
  explicit Writer(std::byte* out) : out_(out), begin_(out) {}

  void bits(std::uint64_t value, std::uint32_t count) {  // at most 32
    rest_ |= value << filled_;
    filled_ += count;
    if (filled_ >= 32) flush();
  }
  void end_word() {
    if (filled_ > 0) flush();
    filled_ = 0;
  }
  void word(std::uint32_t value) {
    store(out_, value);
    out_ += 4;
  }
  std::uint64_t written() const { return static_cast<std::uint64_t>(out_ - begin_); }

 private:
  void flush() {
    word(static_cast<std::uint32_t>(rest_));
    rest_ >>= 32;
    filled_ -= 32;
  }

  std::byte* out_;
  std::byte* begin_;
  std::uint64_t rest_ = 0;
  std::uint32_t filled_ = 0;
};

}  // namespace thinwire::codec::szp
