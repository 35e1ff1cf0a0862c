// Decoding in pieces gives what decoding does, and refuses what it refuses.
#include "message/pieces.h"

#include <gtest/gtest.h>

#include <cstring>

#include "arrays.h"
#include "base/checksum.h"
#include "brief.h"

namespace thinwire::message {
namespace {

// A frame and an array in memory, the array between canaries.
class InMemory : public PieceAccess {
 public:
  InMemory(ByteView frame, std::size_t capacity) : out(capacity, std::byte{0xC5}), frame_(frame) {}

  Status read(std::uint64_t offset, MutableByteView to) override {
    if (++reads == failing_read) return {StatusCode::kInternal, "no read"};
    EXPECT_LE(offset + to.size(), frame_.size());
    std::memcpy(to.data(), frame_.data() + offset, to.size());
    return {};
  }
  Status write(std::uint64_t offset, ByteView from) override {
    if (++writes == failing_write) return {StatusCode::kInternal, "no write"};
    EXPECT_LE(offset + from.size(), out.size());
    std::memcpy(out.data() + offset, from.data(), from.size());
    return {};
  }

  std::vector<std::byte> out;
  int reads = 0, writes = 0;
  int failing_read = 0, failing_write = 0;

 private:
  ByteView frame_;
};

Result<Info> decode_through(InMemory& memory, std::uint64_t length, std::uint64_t spare = 0) {
  std::uint64_t needed = 0;
  auto info = decode_in_pieces(memory, length, frame::file_mark(), {}, &needed);
  if (info.ok() || info.status().code() != StatusCode::kTooSmall) return info;
  EXPECT_EQ(memory.writes, 0);
  std::vector<std::byte> workspace(needed + spare, std::byte{0xC5});
  const std::uint64_t told = needed;
  info = decode_in_pieces(memory, length, frame::file_mark(), {workspace.data(), needed}, &needed);
  if (needed != 0) {  // 0 if not even the header was read
    EXPECT_EQ(needed, told);
  }
  for (std::uint64_t at = told; at < workspace.size(); ++at) {
    EXPECT_EQ(workspace[at], std::byte{0xC5});
  }
  return info;
}

std::vector<codec::Chunk> arrays_of(const Coder& coder, Dtype dtype) {
  std::vector<codec::Chunk> arrays;
  for (const std::uint64_t count : kLengths) arrays.push_back(line(dtype, count));
  // More rows of the table than are read at once.
  if (!is_brief() || dtype == Dtype::kF32) arrays.push_back(line(dtype, 600 * 8192 + 5));
  if (coder.codec->max_rank >= 2) arrays.push_back({dtype, {.rank = 2, .extent = {201, 333}}});
  if (coder.codec->max_rank >= 3) arrays.push_back({dtype, {.rank = 3, .extent = {21, 34, 130}}});
  return arrays;
}

TEST(Pieces, GiveWhatDecodingGives) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    for (const codec::Chunk& array : arrays_of(coder, dtype)) {
      auto data = smooth(dtype, array.shape.count());
      const auto frame = encoded(coder, array, data);
      if (coder.codec->test_only()) continue;  // a frame of it is decoded once
      std::vector<std::byte> whole(data.size(), std::byte{0xC5});
      ASSERT_TRUE(decode(frame, whole, frame::file_mark()).ok());
      InMemory memory(frame, data.size());
      const auto info = decode_through(memory, frame.size(), 64);
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(info->header.shape, array.shape);
      EXPECT_TRUE(memory.out == whole);
    }
  });
}

TEST(Pieces, TheWorkspaceDoesNotGrowWithTheMessage) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only() || coder.codec->id == 0) return;
    if (is_brief() && dtype != Dtype::kF32 && dtype != Dtype::kF64) return;
    const auto array = line(dtype, 600 * 8192 + 5);
    const auto frame = encoded(coder, array, smooth(dtype, array.shape.count()));
    InMemory memory(frame, array.raw_bytes());
    std::uint64_t needed = 0;
    const auto info = decode_in_pieces(memory, frame.size(), frame::file_mark(), {}, &needed);
    EXPECT_EQ(info.status().code(), StatusCode::kTooSmall);
    EXPECT_GT(needed, 0u);
    EXPECT_LE(needed, 260u << 10);
  });
}

TEST(Pieces, DamageIsAnError) {
  static constexpr std::size_t kRoom = 1 << 18;  // more than any of the arrays needs
  std::vector<std::byte> whole(kRoom);
  for_each_coder([&](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;
    const auto sound = encoded(coder, line(dtype, 20000), smooth(dtype, 20000));
    std::mt19937 random(7);
    for (int trial = 0; trial < (is_brief() ? 150 : 300); ++trial) {
      auto frame = sound;
      const std::size_t at =
          trial < 100 ? static_cast<std::size_t>(trial) : random() % frame.size();
      frame[at] ^= static_cast<std::byte>(1 + random() % 255);
      InMemory memory(frame, kRoom);
      const auto info = decode_through(memory, frame.size(), 64);
      EXPECT_EQ(info.status().code(), decode(frame, whole, frame::file_mark()).status().code());
      EXPECT_FALSE(info.ok()) << "byte " << at;
    }
    for (std::size_t length = 0; length < sound.size(); length += length < 200 ? 1 : 537) {
      InMemory memory(ByteView(sound).first(length), kRoom);
      EXPECT_FALSE(decode_through(memory, length, 64).ok()) << length;
    }
  });
}

// Extents that were made smaller leave payloads that are longer than their chunks: both decoders
// refuse them, and say the same of all others.
TEST(Pieces, AndTheWholeDecoderAgreeOnSmallerExtents) {
  static constexpr std::size_t kRoom = 1 << 18;
  std::vector<std::byte> whole(kRoom);
  for_each_coder([&](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;
    EncodeOptions options;
    options.chunk_checksums = false;
    const auto sound = encoded(coder, line(dtype, 5000), smooth(dtype, 5000), options);
    for (std::uint64_t count = 1; count < 5000; count += count < 300 ? 1 : 97) {
      auto frame = sound;
      store(frame.data() + 24, count);
      store(frame.data() + 48, checksum(ByteView(frame).first(48)));
      InMemory memory(frame, kRoom);
      const auto info = decode_through(memory, frame.size(), 64);
      EXPECT_EQ(info.status().code(), decode(frame, whole, frame::file_mark()).status().code());
    }
  });
}

// Payloads of any length that are longer than their chunks: none is looked at.
TEST(Pieces, AndTheWholeDecoderRefuseOverlongPayloads) {
  std::vector<std::byte> whole(1 << 12);
  for_each_coder([&](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;
    const std::uint64_t raw = 2 * dtype_size(dtype);
    for (std::uint32_t bytes = 0; bytes < 64; ++bytes) {
      frame::Header header;
      header.codec = coder.codec->id;
      header.codec_version = coder.codec->version;
      header.dtype = dtype;
      header.shape = Shape::line(2);
      header.parameter = coder.parameter;
      header.chunk_checksums = false;
      header.body_bytes = 8 + bytes;
      std::vector<std::byte> frame(header.header_bytes() + header.body_bytes);
      frame::pack(header, frame::file_mark(), frame.data());
      store(frame.data() + header.header_bytes(), std::uint64_t{bytes});
      InMemory memory(frame, whole.size());
      const auto info = decode_through(memory, frame.size(), 64);
      const auto code = decode(frame, whole, frame::file_mark()).status().code();
      EXPECT_EQ(info.status().code(), code) << bytes;
      if (!coder.codec->fixed_size && bytes > raw) {
        EXPECT_EQ(code, StatusCode::kDamaged) << bytes;
      }
    }
  });
}

TEST(Pieces, WhatFailsEndsIt) {
  const auto spec = codec::parse_spec("mpc");
  const auto frame =
      encoded({spec->codec, spec->parameter}, line(Dtype::kF32, 50000), smooth(Dtype::kF32, 50000));
  for (int failing = 1; failing < 6; ++failing) {
    InMemory reads(frame, 200000), writes(frame, 200000);
    reads.failing_read = failing;
    EXPECT_EQ(decode_through(reads, frame.size()).status().message(), "no read");
    writes.failing_write = failing;
    EXPECT_EQ(decode_through(writes, frame.size()).status().message(), "no write");
    EXPECT_EQ(writes.writes, failing);
  }
}

}  // namespace
}  // namespace thinwire::message
