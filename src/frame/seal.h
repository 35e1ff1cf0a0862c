// Completing a header after the body's size is known, on the host or on the device; spec/frame.md.
#pragma once

#include <cstdint>

#include "base/checksum.h"
#include "base/dtype.h"

namespace thinwire::frame {

inline constexpr int kFixedHeaderWords = 7;
inline constexpr int kMaxHeaderWords = kFixedHeaderWords + kMaxRank - 1;
inline constexpr int kParameterWord = 4;
inline constexpr int kBodyBytesWord = 5;
inline constexpr int kChecksumWord = 6;

// A header as 64-bit words, sealed or yet to be.
struct HeaderWords {
  std::uint64_t word[kMaxHeaderWords];
  std::uint32_t count;  // kFixedHeaderWords + rank - 1

  THINWIRE_HOST_DEVICE constexpr std::uint64_t bytes() const { return 8 * std::uint64_t{count}; }
};

// The words of a header that say how long its frame is.
struct HeaderStart {
  std::uint64_t word[kBodyBytesWord + 1];
};

// The length of a frame by its header, of one whose checksum holds.
THINWIRE_HOST_DEVICE constexpr std::uint64_t length_by(const HeaderStart& start) {
  const std::uint64_t rank = start.word[2] >> 32 & 0xff;  // byte 20
  return 8 * (kFixedHeaderWords - 1 + rank) + start.word[kBodyBytesWord];
}

// The checksum of a header's words; it covers all but its own.
THINWIRE_HOST_DEVICE constexpr std::uint64_t header_checksum(const HeaderWords& header) {
  std::uint64_t sum = 0;
  // Over all that a header may have, so that an unrolled loop knows its keys when it is compiled.
  for (int at = 0; at < kMaxHeaderWords; ++at) {
    if (at == kChecksumWord || at >= static_cast<int>(header.count)) continue;
    const int lane = at < kChecksumWord ? at : at - 1;
    sum += checksum_product(header.word[at], checksum_key(static_cast<std::uint64_t>(lane)));
  }
  return checksum_finish(header.bytes() - 8, sum);
}

THINWIRE_HOST_DEVICE constexpr void seal(HeaderWords& header, std::uint64_t body_bytes) {
  header.word[kBodyBytesWord] = body_bytes;
  header.word[kChecksumWord] = header_checksum(header);
}

}  // namespace thinwire::frame
