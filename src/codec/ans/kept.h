// The values of a sparse piece that planes but the first have bytes of, on the host. See
// spec/codec-ans.md.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/bytes.h"
#include "codec/ans/pieces.h"

namespace thinwire::codec::ans {

// Their positions, found once for all planes: loops over bytes that are there or not would branch
// on the data.
template <typename Word>
class KeptValues {
 public:
  // Those whose byte at `highest` is not 0.
  void find(const std::byte* highest, std::uint32_t values) {
    count_ = 0;
    for (std::uint32_t at = 0; at < values; ++at) {
      at_[count_] = static_cast<std::uint16_t>(at);
      count_ += highest[at] != std::byte{0};
    }
  }
  std::uint32_t count() const { return count_; }

  // Moves the bytes of a plane of all values to one of these, and back. Returns where they end.
  std::byte* pack(const std::byte* plane, std::byte* packed) const {
    for_each_run([&](std::uint32_t next, std::uint32_t at, auto length) {
      std::memcpy(packed + next, plane + at, length());
    });
    return packed + count_;
  }
  void unpack(const std::byte* packed, std::byte* plane) const {
    for_each_run([&](std::uint32_t next, std::uint32_t at, auto length) {
      std::memcpy(plane + at, packed + next, length());
    });
  }

 private:
  static constexpr std::uint32_t kRun = 8;

  // Calls move(number, position, length) for all, for as many at once as follow each other.
  template <typename Move>
  void for_each_run(Move&& move) const {
    constexpr std::integral_constant<std::uint32_t, kRun> kMany;
    constexpr std::integral_constant<std::uint32_t, 1> kOne;
    std::uint32_t next = 0;
    for (; next + kRun <= count_; next += kRun) {
      if (at_[next + kRun - 1] - at_[next] == kRun - 1) {
        move(next, at_[next], kMany);
        continue;
      }
      for (std::uint32_t each = next; each < next + kRun; ++each) move(each, at_[each], kOne);
    }
    for (; next < count_; ++next) move(next, at_[next], kOne);
  }

  std::uint32_t count_ = 0;
  std::uint16_t at_[kPieceValues<Word>];
};

}  // namespace thinwire::codec::ans
