// A payload as it is read on the host.
#pragma once

#include "base/bytes.h"

namespace thinwire::codec::szp {

// Words and parts of a payload. Whoever takes them has seen that they are there.
class Reader {
 public:
  explicit Reader(ByteView bytes) : bytes_(bytes) {}

  std::uint64_t left() const { return bytes_.size() - at_; }

  std::uint32_t word() { return load<std::uint32_t>(take(4).data()); }

  ByteView take(std::uint64_t bytes) {
    const ByteView taken = bytes_.subspan(at_, bytes);
    at_ += bytes;
    return taken;
  }

 private:
  ByteView bytes_;
  std::uint64_t at_ = 0;
};

}  // namespace thinwire::codec::szp
