// The frame header of spec/frame.md: pack, unpack, validate. Pure functions over bytes.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "base/dtype.h"
#include "base/status.h"
#include "frame/seal.h"

namespace thinwire::frame {

// The newest that this build reads and writes; it reads all before it.
inline constexpr std::uint8_t kFormatVersion = 2;

// The first in which an array may be coded in another shape than its own (spec/frame.md, "Chunks").
inline constexpr std::uint8_t kCodedShapesVersion = 1;

// The first in which chunks may say which of their values are missing (spec/frame.md, "Missing
// values").
inline constexpr std::uint8_t kFillsVersion = 2;

inline constexpr std::size_t kFixedHeaderBytes = 56;
inline constexpr std::size_t kFillBytes = 8;
inline constexpr std::size_t kMaxHeaderBytes = kFixedHeaderBytes + 8 * (kMaxRank - 1) + kFillBytes;

// The 16 bytes that say "a frame begins here".
struct Mark {
  std::array<std::uint64_t, 2> word;
  friend constexpr bool operator==(const Mark&, const Mark&) = default;
};

// The mark of frames in files and of memory-to-memory use.
Mark file_mark();

// The mark of messages of the job that `job` names; never equal to file_mark().
Mark job_mark(ByteView job);

struct Header {
  std::uint8_t version = 0;
  std::uint8_t codec = 0;
  std::uint8_t codec_version = 0;
  Dtype dtype = Dtype::kBytes;
  bool chunk_checksums = true;
  bool as_line = false;          // coded as one line, whatever its shape
  Shape shape;                   // of the decoded array
  std::uint64_t parameter = 0;   // the codec's own word, see its page
  std::uint64_t body_bytes = 0;  // chunk table and payloads, without header and padding
  bool has_fill = false;         // chunks say which of their values are missing
  std::uint64_t fill = 0;        // the bits of those

  std::size_t header_bytes() const {
    return kFixedHeaderBytes + 8 * (shape.rank - 1) + (has_fill ? kFillBytes : 0);
  }
  std::uint64_t frame_bytes() const { return header_bytes() + body_bytes; }
  std::uint64_t raw_bytes() const { return shape.count() * dtype_size(dtype); }
  friend bool operator==(const Header&, const Header&) = default;
};

// True when `bytes` is long enough for a mark and begins with it.
bool has_mark(ByteView bytes, const Mark& mark);

// Writes header.header_bytes() bytes at `out`.
void pack(const Header& header, const Mark& mark, std::byte* out);

// Reads and validates a header: kNotAFrame, kVersion or kDamaged tells what is wrong. On success
// body_bytes fits after the header inside `bytes`, which may be longer (padding), and
// raw_bytes() does not overflow.
Result<Header> unpack(ByteView bytes, const Mark& mark);

// The same of a frame of `length` bytes whose first ones, kMaxHeaderBytes or all, are `start`.
Result<Header> unpack_start(ByteView start, std::uint64_t length, const Mark& mark);

// The header's words, body size and checksum left 0, for whoever seals them later; of a header
// without a fill value.
HeaderWords unsealed(const Header& header, const Mark& mark);

}  // namespace thinwire::frame
