#include "frame/header.h"

#include <string>

#include "base/checksum.h"

namespace thinwire::frame {
namespace {

// Offsets of spec/frame.md.
constexpr std::size_t kVersionAt = 16;
constexpr std::size_t kCodecAt = 17;
constexpr std::size_t kCodecVersionAt = 18;
constexpr std::size_t kDtypeAt = 19;
constexpr std::size_t kRankAt = 20;
constexpr std::size_t kFlagsAt = 21;
constexpr std::size_t kReservedAt = 22;
constexpr std::size_t kSlowestExtentAt = 24;
constexpr std::size_t kParameterAt = 32;
constexpr std::size_t kBodyBytesAt = 40;
constexpr std::size_t kChecksumAt = 48;

constexpr std::uint8_t kFlagChunkChecksums = 1;
constexpr std::uint8_t kFlagAsLine = 2;
constexpr std::uint8_t kFlagFill = 4;

constexpr std::uint64_t kMessageMarkHigh = 0x6567617373656D00u;  // "\0message"

std::uint8_t flags_of(const Header& header) {
  const int flags = (header.chunk_checksums ? kFlagChunkChecksums : 0) |
                    (header.as_line ? kFlagAsLine : 0) | (header.has_fill ? kFlagFill : 0);
  return static_cast<std::uint8_t>(flags);
}

std::uint8_t known_flags(std::uint8_t version) {
  if (version < kCodedShapesVersion) return kFlagChunkChecksums;
  if (version < kFillsVersion) return kFlagChunkChecksums | kFlagAsLine;
  return kFlagChunkChecksums | kFlagAsLine | kFlagFill;
}

Status damaged(std::string what) { return {StatusCode::kDamaged, "frame header: " + what}; }

std::uint64_t header_checksum(const std::byte* header, std::size_t header_bytes) {
  std::array<std::byte, kMaxHeaderBytes> covered;
  std::memcpy(covered.data(), header, kChecksumAt);
  const std::size_t rest = header_bytes - kFixedHeaderBytes;
  std::memcpy(covered.data() + kChecksumAt, header + kFixedHeaderBytes, rest);
  return checksum(ByteView(covered).first(kChecksumAt + rest));
}

// The bits of a value of the type in their word.
bool is_fill(std::uint64_t word, Dtype dtype) {
  const int bits = 8 * static_cast<int>(dtype_size(dtype));
  return bits == 64 || word >> bits == 0;
}

Status check_sizes(const Header& header, std::uint64_t available) {
  if (header.body_bytes > available - header.header_bytes()) {
    return damaged("says " + std::to_string(header.body_bytes) + " bytes follow, " +
                   std::to_string(available - header.header_bytes()) + " do");
  }
  if (!header.shape.is_sound(dtype_size(header.dtype))) {
    return damaged("an extent is zero, or the extents overflow");
  }
  return {};
}

}  // namespace

Mark file_mark() { return {{0x656D617266207774u, 0x0A0D1A00656C6966u}}; }  // "tw frame" "file..."

Mark job_mark(ByteView job) {
  return {{checksum(job) ^ 0x656D617266207774u, ~checksum(job) ^ kMessageMarkHigh}};
}

bool has_mark(ByteView bytes, const Mark& mark) {
  return bytes.size() >= sizeof mark.word &&
         std::memcmp(bytes.data(), mark.word.data(), sizeof mark.word) == 0;
}

void pack(const Header& header, const Mark& mark, std::byte* out) {
  store(out, mark.word);
  store(out + kVersionAt, header.version);
  store(out + kCodecAt, header.codec);
  store(out + kCodecVersionAt, header.codec_version);
  store(out + kDtypeAt, static_cast<std::uint8_t>(header.dtype));
  store(out + kRankAt, static_cast<std::uint8_t>(header.shape.rank));
  store(out + kFlagsAt, flags_of(header));
  store(out + kReservedAt, std::uint16_t{0});
  store(out + kSlowestExtentAt, header.shape.extent[0]);
  store(out + kParameterAt, header.parameter);
  store(out + kBodyBytesAt, header.body_bytes);
  for (int axis = 1; axis < header.shape.rank; ++axis) {
    store(out + kFixedHeaderBytes + 8 * (axis - 1), header.shape.extent[axis]);
  }
  if (header.has_fill) store(out + header.header_bytes() - kFillBytes, header.fill);
  store(out + kChecksumAt, header_checksum(out, header.header_bytes()));
}

HeaderWords unsealed(const Header& header, const Mark& mark) {
  HeaderWords words{};
  words.count = static_cast<std::uint32_t>(header.header_bytes() / 8);
  std::array<std::byte, kMaxHeaderBytes> bytes{};
  pack(header, mark, bytes.data());
  std::memcpy(words.word, bytes.data(), sizeof words.word);
  words.word[kBodyBytesWord] = 0;
  words.word[kChecksumWord] = 0;
  return words;
}

Result<Header> unpack(ByteView bytes, const Mark& mark) {
  return unpack_start(bytes, bytes.size(), mark);
}

Result<Header> unpack_start(ByteView bytes, std::uint64_t length, const Mark& mark) {
  if (!has_mark(bytes, mark)) return {StatusCode::kNotAFrame, "these bytes are not a frame"};
  if (bytes.size() < kFixedHeaderBytes) return damaged("cut short");
  const std::byte* at = bytes.data();
  const auto version = load<std::uint8_t>(at + kVersionAt);
  if (version > kFormatVersion) {
    return {StatusCode::kVersion, "frame format version " + std::to_string(version) +
                                      ", this build reads versions up to " +
                                      std::to_string(kFormatVersion)};
  }
  const auto rank = load<std::uint8_t>(at + kRankAt);
  if (rank < 1 || rank > kMaxRank) return damaged("rank " + std::to_string(rank));

  Header header;
  header.version = version;
  header.shape.rank = rank;
  // Before the checksum, which covers it: the flag says how long the header is.
  const auto flags = load<std::uint8_t>(at + kFlagsAt);
  header.has_fill = version >= kFillsVersion && (flags & kFlagFill) != 0;
  if (bytes.size() < header.header_bytes()) return damaged("cut short");
  if (load<std::uint64_t>(at + kChecksumAt) != header_checksum(at, header.header_bytes())) {
    return damaged("checksum mismatch");
  }
  const auto dtype = load<std::uint8_t>(at + kDtypeAt);
  if (dtype >= kDtypeCount) return damaged("unknown dtype " + std::to_string(dtype));
  if ((flags & ~known_flags(version)) != 0 || load<std::uint16_t>(at + kReservedAt) != 0) {
    return damaged("reserved bits are set");
  }
  header.codec = load<std::uint8_t>(at + kCodecAt);
  header.codec_version = load<std::uint8_t>(at + kCodecVersionAt);
  header.dtype = static_cast<Dtype>(dtype);
  header.chunk_checksums = (flags & kFlagChunkChecksums) != 0;
  header.as_line = (flags & kFlagAsLine) != 0;
  header.shape.extent[0] = load<std::uint64_t>(at + kSlowestExtentAt);
  for (int axis = 1; axis < rank; ++axis) {
    header.shape.extent[axis] = load<std::uint64_t>(at + kFixedHeaderBytes + 8 * (axis - 1));
  }
  if (header.has_fill) {
    header.fill = load<std::uint64_t>(at + header.header_bytes() - kFillBytes);
    if (!is_fill(header.fill, header.dtype)) return damaged("the fill value is none of the type");
  }
  header.parameter = load<std::uint64_t>(at + kParameterAt);
  header.body_bytes = load<std::uint64_t>(at + kBodyBytesAt);
  if (Status status = check_sizes(header, length); !status.ok()) return status;
  return header;
}

}  // namespace thinwire::frame
