// Values to planes of bytes and back, on the host. See spec/codec-ans.md.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "base/bytes.h"
#include "codec/ans/format.h"

namespace thinwire::codec::ans {

// The planes of values that are put together: plane p is read from `place[p]`.
struct Planes {
  std::array<const std::byte*, 8> place{};
  std::uint32_t values = 0;
  std::uint32_t kept = 0;  // bytes of every plane but the first
  bool is_sparse = false;
};

// Words after kMaxTuple zeros: the first words' differences reach back to these.
template <typename Word, std::uint32_t kMost>
struct Words {
  alignas(64) Word before[kMaxTuple + kMost];

  Word* at() { return before + kMaxTuple; }
};

// Words are taken apart and put together by halves: vectors have more of narrow numbers.
template <typename Word>
using HalfOf =
    std::conditional_t<sizeof(Word) == 8, std::uint32_t,
                       std::conditional_t<sizeof(Word) == 4, std::uint16_t, std::uint8_t>>;

// The words that there are: X(word, name).
#define THINWIRE_ANS_WORDS(X) \
  X(std::uint8_t, bytes)      \
  X(std::uint16_t, halves) X(std::uint32_t, singles) X(std::uint64_t, doubles)

// How many words of a piece are 0, unless they are of one byte, and whether it is sparse without a
// mask.
struct Zeros {
  std::uint32_t words = 0;
  bool is_sparse = false;
};

// Writes the planes of a piece's values, `apart` bytes from one to the next, with a byte of each
// word in every one. `source` has any alignment.
template <typename Word>
Zeros split(const std::byte* source, std::uint32_t values, std::uint32_t tuple, std::byte* out,
            std::uint32_t apart);

// `out` has any alignment. False if the first plane has not as many bytes that are not 0 as the
// others have bytes.
template <typename Word>
bool join(const Planes& planes, std::uint32_t tuple, std::byte* out);

}  // namespace thinwire::codec::ans
