#include "frame/header.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/checksum.h"

namespace thinwire::frame {
namespace {

Header sample(int rank) {
  Header header;
  header.codec = 1;
  header.codec_version = 3;
  header.dtype = Dtype::kF32;
  header.shape.rank = rank;
  for (int axis = 0; axis < rank; ++axis) header.shape.extent[axis] = 10u + axis;
  header.parameter = 0x1122334455667788u;
  header.body_bytes = 100;
  return header;
}

std::vector<std::byte> packed(const Header& header, const Mark& mark = file_mark()) {
  std::vector<std::byte> bytes(header.frame_bytes());
  pack(header, mark, bytes.data());
  return bytes;
}

// Puts a right checksum under a changed header, as a hostile sender would.
void reseal(std::vector<std::byte>& bytes, std::size_t header_bytes) {
  std::vector<std::byte> covered(bytes.begin(), bytes.begin() + 48);
  covered.insert(covered.end(), bytes.begin() + 56,
                 bytes.begin() + static_cast<long>(header_bytes));
  store(bytes.data() + 48, checksum(covered));
}

TEST(Header, RoundTripsAtEveryRank) {
  for (int rank = 1; rank <= kMaxRank; ++rank) {
    const Header header = sample(rank);
    EXPECT_EQ(header.header_bytes(), 56u + 8u * (rank - 1));
    const auto bytes = packed(header);
    const auto read = unpack(bytes, file_mark());
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->codec, header.codec);
    EXPECT_EQ(read->codec_version, header.codec_version);
    EXPECT_EQ(read->dtype, header.dtype);
    EXPECT_EQ(read->shape, header.shape);
    EXPECT_EQ(read->parameter, header.parameter);
    EXPECT_EQ(read->body_bytes, header.body_bytes);
    EXPECT_EQ(read->chunk_checksums, header.chunk_checksums);
  }
}

TEST(Header, EveryFlippedBitIsFound) {
  const Header header = sample(3);
  auto bytes = packed(header);
  for (std::size_t at = 0; at < header.header_bytes(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_FALSE(unpack(bytes, file_mark()).ok()) << "byte " << at << " bit " << bit;
      bytes[at] ^= static_cast<std::byte>(1 << bit);
    }
  }
  EXPECT_TRUE(unpack(bytes, file_mark()).ok());
}

TEST(Header, EveryTruncationIsFound) {
  const auto bytes = packed(sample(4));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(unpack(ByteView(bytes).first(length), file_mark()).ok()) << length;
  }
}

TEST(Header, PaddingBehindTheFrameIsAllowed) {
  auto bytes = packed(sample(1));
  bytes.resize(bytes.size() + 4096);
  EXPECT_TRUE(unpack(bytes, file_mark()).ok());
}

TEST(Header, OtherVersionsAreNamed) {
  auto bytes = packed(sample(1));
  bytes[16] = std::byte{kFormatVersion + 1};
  reseal(bytes, kFixedHeaderBytes);
  EXPECT_EQ(unpack(bytes, file_mark()).status().code(), StatusCode::kVersion);
}

TEST(Header, OneLineIsOfVersion1) {
  Header header = sample(3);
  header.version = kCodedShapesVersion;
  header.as_line = true;
  auto bytes = packed(header);
  const auto read = unpack(bytes, file_mark());
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->as_line);
  EXPECT_EQ(read->version, kCodedShapesVersion);
  EXPECT_EQ(read->shape, header.shape);
  bytes[16] = std::byte{0};
  reseal(bytes, header.header_bytes());
  EXPECT_EQ(unpack(bytes, file_mark()).status().code(), StatusCode::kDamaged);
}

TEST(Header, MissingValuesAreOfVersion2) {
  for (int rank = 1; rank <= kMaxRank; ++rank) {
    Header header = sample(rank);
    header.version = kFillsVersion;
    header.has_fill = true;
    header.fill = 0x7BF0000000000001u;
    header.dtype = Dtype::kF64;
    auto bytes = packed(header);
    EXPECT_EQ(header.header_bytes(), kFixedHeaderBytes + 8 * static_cast<std::size_t>(rank));
    const auto read = unpack(bytes, file_mark());
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, header);
    for (std::size_t at = 16; at < header.header_bytes(); ++at) {
      auto changed = bytes;
      changed[at] ^= std::byte{1};
      EXPECT_FALSE(unpack(changed, file_mark()).ok()) << at;
      EXPECT_FALSE(unpack(ByteView(bytes).first(at), file_mark()).ok()) << at;
    }
    bytes[16] = std::byte{kCodedShapesVersion};
    reseal(bytes, header.header_bytes() - kFillBytes);
    EXPECT_EQ(unpack(bytes, file_mark()).status().code(), StatusCode::kDamaged);
  }
}

TEST(Header, TheBitsOfMissingValuesAreThoseOfTheType) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBf16}) {
    Header header = sample(2);
    header.version = kFillsVersion;
    header.has_fill = true;
    header.dtype = dtype;
    header.fill = std::uint64_t{1} << (8 * dtype_size(dtype) - 1);
    EXPECT_TRUE(unpack(packed(header), file_mark()).ok());
    header.fill <<= 1;
    EXPECT_EQ(unpack(packed(header), file_mark()).status().code(), StatusCode::kDamaged);
  }
}

TEST(Header, WhatVersion0SaysStaysOfVersion0) { EXPECT_EQ(packed(sample(4))[16], std::byte{0}); }

TEST(Header, SealedNonsenseIsRefused) {
  struct Change {
    const char* what;
    std::size_t at;
    std::uint64_t value;
    std::size_t width;
  };
  const Change changes[] = {{"dtype", 19, 200, 1},
                            {"rank 0", 20, 0, 1},
                            {"rank 5", 20, 5, 1},
                            {"unknown flag", 21, 2, 1},
                            {"reserved", 22, 1, 2},
                            {"body past the end", 40, 101, 8},
                            {"body overflows", 40, ~0ull, 8},
                            {"extent overflows", 24, ~0ull, 8},
                            {"zero extent", 24, 0, 8},
                            {"second extent zero", 56, 0, 8},
                            {"product overflows", 56, 1ull << 62, 8}};
  for (const Change& change : changes) {
    auto bytes = packed(sample(2));
    std::memcpy(bytes.data() + change.at, &change.value, change.width);
    reseal(bytes, sample(2).header_bytes());
    EXPECT_EQ(unpack(bytes, file_mark()).status().code(), StatusCode::kDamaged) << change.what;
  }
}

TEST(Mark, JobsAndFilesDiffer) {
  const auto job = [](const char* name) {
    return job_mark({reinterpret_cast<const std::byte*>(name), std::strlen(name)});
  };
  EXPECT_EQ(job("12.0"), job("12.0"));
  EXPECT_NE(job("12.0"), job("12.1"));
  EXPECT_NE(job("12.0"), file_mark());
  EXPECT_NE(job(""), file_mark());
  const auto bytes = packed(sample(1), job("12.0"));
  EXPECT_TRUE(unpack(bytes, job("12.0")).ok());
  EXPECT_EQ(unpack(bytes, job("12.1")).status().code(), StatusCode::kNotAFrame);
  EXPECT_EQ(unpack(bytes, file_mark()).status().code(), StatusCode::kNotAFrame);
}

}  // namespace
}  // namespace thinwire::frame
