// Damaged and hostile frames: an error each time, never a crash (the sanitizers watch).
#include <gtest/gtest.h>

#include "arrays.h"
#include "base/checksum.h"
#include "base/settings.h"
#include "frame/header.h"
#include "message/allowed.h"

namespace thinwire::message {
namespace {

// Puts a right header checksum under a changed one-dimensional frame.
void reseal(std::vector<std::byte>& frame) {
  store(frame.data() + 48, checksum(ByteView(frame).first(48)));
}

StatusCode decode_code(ByteView frame, std::size_t capacity = 1 << 20) {
  std::vector<std::byte> out(capacity);
  return decode(frame, out, frame::file_mark()).status().code();
}

std::vector<std::byte> zfp_frame(std::uint64_t count, bool checksums = true) {
  const auto spec = codec::parse_spec("zfp:rate=8");
  EncodeOptions options;
  options.chunk_checksums = checksums;
  return encoded({spec->codec, spec->parameter}, line(Dtype::kF32, count),
                 smooth(Dtype::kF32, count), options);
}

TEST(Hostile, EveryTruncationIsAnError) {
  const auto frame = zfp_frame(20000);
  for (std::size_t length = 0; length < frame.size(); length += length < 200 ? 1 : 37) {
    EXPECT_NE(decode_code(ByteView(frame).first(length)), StatusCode::kOk) << length;
  }
}

TEST(Hostile, EveryFlippedByteIsAnError) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;
    const auto sound = encoded(coder, line(dtype, 20000), smooth(dtype, 20000));
    std::mt19937 random(7);
    for (int trial = 0; trial < 300; ++trial) {
      auto frame = sound;
      const std::size_t at =
          trial < 100 ? static_cast<std::size_t>(trial) : random() % frame.size();
      frame[at] ^= static_cast<std::byte>(1 + random() % 255);
      EXPECT_NE(decode_code(frame), StatusCode::kOk) << "byte " << at;
    }
  });
}

TEST(Hostile, RandomPayloadsNeverEscapeTheirBuffer) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;
    EncodeOptions options;
    options.chunk_checksums = false;
    auto frame = encoded(coder, line(dtype, 20000), smooth(dtype, 20000), options);
    std::mt19937 random(11);
    for (int trial = 0; trial < 50; ++trial) {
      for (std::size_t at = 56; at < frame.size(); ++at) {
        if (trial % 2 == 0 || at >= 56 + 8 * 8) frame[at] = static_cast<std::byte>(random());
      }
      std::vector<std::byte> out(20000 * dtype_size(dtype) + 64, std::byte{0xC5});
      const MutableByteView target = MutableByteView(out).first(out.size() - 64);
      (void)decode(frame, target, frame::file_mark());
      for (std::size_t at = target.size(); at < out.size(); ++at) {
        ASSERT_EQ(out[at], std::byte{0xC5});
      }
    }
  });
}

TEST(Hostile, SealedNonsenseInTheHeaderIsAnError) {
  const auto change = [](std::size_t at, std::uint64_t value, std::size_t width) {
    auto frame = zfp_frame(20000);
    std::memcpy(frame.data() + at, &value, width);
    reseal(frame);
    return decode_code(frame);
  };
  EXPECT_EQ(change(17, 77, 1), StatusCode::kUnsupported);      // a codec this build lacks
  EXPECT_EQ(change(18, 9, 1), StatusCode::kVersion);           // its format of another version
  EXPECT_EQ(change(19, 0, 1), StatusCode::kDamaged);           // a dtype it does not take
  EXPECT_EQ(change(24, 20001, 8), StatusCode::kDamaged);       // more values than the body has
  EXPECT_EQ(change(24, 1ull << 40, 8), StatusCode::kDamaged);  // more chunks than the table
  EXPECT_EQ(change(32, 0, 8), StatusCode::kDamaged);           // a rate that does not exist
  EXPECT_EQ(change(32, ~0ull, 8), StatusCode::kDamaged);
  EXPECT_EQ(change(40, 8, 8), StatusCode::kDamaged);  // a body shorter than its table
}

TEST(Hostile, OlderVersionsAreReadWhereTheyMeanTheSame) {
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (codec->older_versions == 0) continue;
    const auto spec = codec::parse_spec(codec->example);
    auto frame = encoded({spec->codec, spec->parameter}, line(Dtype::kF32, 20000),
                         smooth(Dtype::kF32, 20000));
    ASSERT_EQ(frame[17], static_cast<std::byte>(codec->id));
    const auto code = [&](int version) {
      frame[18] = static_cast<std::byte>(version);
      reseal(frame);
      return decode_code(frame);
    };
    EXPECT_EQ(code(codec->version - codec->older_versions), StatusCode::kOk) << codec->name;
    EXPECT_EQ(code(codec->version - codec->older_versions - 1), StatusCode::kVersion);
    EXPECT_EQ(code(codec->version + 1), StatusCode::kVersion) << codec->name;
  }
}

// A header that claims more than the bytes after it can hold is refused before anybody makes room.
TEST(Hostile, ClaimsAreWeighedBeforeMemoryIsMade) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;
    auto frame = encoded(coder, line(dtype, 20000), smooth(dtype, 20000));
    store(frame.data() + 24, std::uint64_t{1} << 40);  // elements, if the table has a few rows
    reseal(frame);
    EXPECT_EQ(inspect(frame, frame::file_mark()).status().code(), StatusCode::kDamaged);
    EXPECT_EQ(decode_code(frame), StatusCode::kDamaged);
  });
  auto longer = zfp_frame(20000);
  store(longer.data() + 24, std::uint64_t{20400});  // as many chunks, of which the last is longer
  reseal(longer);
  EXPECT_EQ(inspect(longer, frame::file_mark()).status().code(), StatusCode::kDamaged);
}

TEST(Hostile, ChunkTablesThatLieAreAnError) {
  for (const std::uint32_t row : {0u, 1u, 0x7FFFFFFFu, 0x80000000u, 0x80010000u, 0xFFFFFFFFu}) {
    auto frame = zfp_frame(20000, false);
    store(frame.data() + 56, row);
    EXPECT_EQ(decode_code(frame), StatusCode::kDamaged) << row;
  }
}

TEST(Hostile, BytesLeftBehindTheLastChunkAreAnError) {
  auto frame = zfp_frame(20000);
  frame.resize(frame.size() + 8);
  EXPECT_EQ(decode_code(frame), StatusCode::kOk);  // padding after the frame
  store(frame.data() + 40, load<std::uint64_t>(frame.data() + 40) + 8);
  reseal(frame);
  EXPECT_EQ(decode_code(frame), StatusCode::kDamaged);  // bytes inside it
}

// A header alone that names a codec of another project.
std::vector<std::byte> forged_header(const codec::Codec& codec) {
  const auto spec = codec::parse_spec(codec.example);
  frame::Header header;
  header.codec = codec.id;
  header.codec_version = codec.version;
  header.dtype = Dtype::kF32;
  header.shape = Shape::line(0);
  header.parameter = spec->parameter;
  std::vector<std::byte> bytes(header.header_bytes());
  frame::pack(header, frame::file_mark(), bytes.data());
  return bytes;
}

TEST(Hostile, AFrameDoesNotSayWhatIsLoaded) {
  int met = 0;
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (!codec->foreign) {
      EXPECT_TRUE(may_decode(*codec)) << codec->name;
      continue;
    }
    ++met;
    EXPECT_FALSE(may_decode(*codec)) << codec->name;
    const auto bytes = forged_header(*codec);
    EXPECT_EQ(bytes.size(), 56u);
    std::vector<std::byte> out(16);
    const auto info = decode(bytes, out, frame::file_mark());
    EXPECT_EQ(info.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(info.status().message().find("THINWIRE_DECODE"), std::string::npos)
        << info.status().message();
    EXPECT_TRUE(inspect(bytes, frame::file_mark()).ok());
  }
  EXPECT_EQ(met, 5);
}

TEST(Hostile, WhatIsNamedIsAllowed) {
  const codec::Codec* const lz4 = codec::find_codec("nvcomp-lz4");
  ASSERT_NE(lz4, nullptr);
  EXPECT_EQ(allow("nvcomp-lz4,none").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(allow("").code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(may_decode(*lz4));
  EXPECT_TRUE(allow("zfp,nvcomp-lz4").ok());
  EXPECT_TRUE(may_decode(*lz4));
  EXPECT_FALSE(may_decode(*codec::find_codec("nvcomp-ans")));
  std::vector<std::byte> out(16);
  const auto info = decode(forged_header(*lz4), out, frame::file_mark());
  EXPECT_FALSE(info.ok());  // nothing in host memory
  EXPECT_EQ(info.status().message().find("THINWIRE_DECODE"), std::string::npos);
}

TEST(Hostile, TheSettingKnowsAllCodecsOfOthers) {
  std::string names;
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (codec->foreign) names += (names.empty() ? "" : " ") + std::string(codec->name);
  }
  EXPECT_EQ(find_setting("THINWIRE_DECODE")->words, names);
}

}  // namespace
}  // namespace thinwire::message
