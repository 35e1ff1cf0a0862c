// Properties of whole frames, over every codec of the registry.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "../base/other_float_mode.h"
#include "../base/small_stack.h"
#include "arrays.h"
#include "message/measure.h"

namespace thinwire::message {
namespace {

constexpr std::size_t kGuard = 64;
constexpr std::byte kCanary{0xC5};

TEST(Message, RoundTripsInsideItsBuffers) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    for (const std::uint64_t count : kLengths) {
      const auto array = line(dtype, count);
      const auto data = smooth(dtype, count);
      const std::uint64_t most = *bound(coder, array);
      std::vector<std::byte> frame(most + kGuard, kCanary);
      const auto written = encode(coder, array, data.data(), {frame.data(), most}, {});
      ASSERT_TRUE(written.ok()) << written.status().message();
      ASSERT_LE(*written, most);
      for (std::size_t at = most; at < frame.size(); ++at) ASSERT_EQ(frame[at], kCanary);

      std::vector<std::byte> out(data.size() + kGuard, kCanary);
      const auto info =
          decode(ByteView(frame).first(*written), {out.data(), data.size()}, frame::file_mark());
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(info->header.shape, array.shape);
      EXPECT_EQ(info->header.dtype, dtype);
      for (std::size_t at = data.size(); at < out.size(); ++at) ASSERT_EQ(out[at], kCanary);
      if (info->codec->lossless) {
        EXPECT_TRUE(std::equal(data.begin(), data.end(), out.begin()));
      }
    }
  });
}

// Codecs have tables and tiles of far more than that.
TEST(Message, ThreadsOfLittleStackCodeAsAnyOther) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "frames are larger under a sanitizer";
#endif
  for_each_coder([](const Coder& coder, Dtype dtype) {
    const auto data = smooth(dtype, 40 * 50 * 60);
    codec::Chunk array = line(dtype, 40 * 50 * 60);
    if (coder.codec->max_rank >= 3) array.shape = Shape{3, {40, 50, 60}};
    const auto expected = encoded(coder, array, data);
    std::vector<std::byte> frame(*bound(coder, array)), out(data.size()), also(data.size());
    run_on_small_stack(32 << 10, [&] {
      const auto written = encode(coder, array, data.data(), frame, {});
      ASSERT_TRUE(written.ok());
      frame.resize(*written);
      EXPECT_TRUE(decode(frame, out, frame::file_mark()).ok());
    });
    ASSERT_TRUE(decode(expected, also, frame::file_mark()).ok());
    EXPECT_EQ(out, also);
  });
}

// Values of every kind: normal, subnormal, infinite and no number at all.
std::vector<std::byte> of_every_kind(Dtype dtype, std::uint64_t count) {
  auto data = smooth(dtype, count);
  std::mt19937_64 random(3);
  for (std::uint64_t at = 0; at < count; at += 7) {
    const std::uint64_t bits = at % 3 == 0 ? random() : random() >> (at % 60);
    std::memcpy(data.data() + at * dtype_size(dtype), &bits, dtype_size(dtype));
  }
  return data;
}

TEST(Message, TheProgramsFloatModeChangesNothing) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;  // a new key each time
    const auto array = line(dtype, 40001);
    for (const auto& data : {smooth(dtype, 40001), of_every_kind(dtype, 40001)}) {
      const auto expected = encoded(coder, array, data);
      std::vector<std::byte> out(data.size()), also(data.size());
      ASSERT_TRUE(decode(expected, out, frame::file_mark()).ok());
      std::vector<std::byte> frame(*bound(coder, array));
      bool decoded = false;
      {
        const OtherFloatMode mode;
        const auto written = encode(coder, array, data.data(), frame, {});
        frame.resize(written.ok() ? *written : 0);
        decoded = decode(frame, also, frame::file_mark()).ok();
      }
      ASSERT_TRUE(decoded);
      EXPECT_EQ(frame, expected);
      EXPECT_EQ(also, out);
    }
  });
}

// Four axes of which the codec takes three or fewer, and any shape as one line.
TEST(Message, ArraysComeBackFromOtherCodedShapes) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    const codec::Chunk array{dtype, {.rank = 4, .extent = {3, 5, 21, 34}}};
    const auto data = smooth(dtype, array.shape.count());
    for (const bool as_line : {false, true}) {
      if (as_line && coder.codec->flat) continue;
      const Coder own{coder.codec, coder.parameter, as_line};
      const auto frame = encoded(own, array, data);
      std::vector<std::byte> out(data.size());
      const auto info = decode(frame, out, frame::file_mark());
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(info->header.shape, array.shape);
      // A codec of tests alone has a new key each time.
      if (info->codec != coder.codec || coder.codec->test_only()) continue;
      const Shape coded = codec::coded_shape(*coder.codec, array.shape, as_line);
      const auto plain = encoded(coder, {dtype, coded}, data);
      const std::size_t tail =
          plain.size() - inspect(plain, frame::file_mark())->header.header_bytes();
      ASSERT_GE(frame.size(), tail);
      EXPECT_TRUE(std::equal(plain.end() - static_cast<std::ptrdiff_t>(tail), plain.end(),
                             frame.end() - static_cast<std::ptrdiff_t>(tail)));
    }
  });
}

TEST(Message, EveryByteIsWritten) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    const auto array = line(dtype, 16401);
    const std::vector<std::byte> zeros(array.raw_bytes());
    for (const auto& data : {zeros, smooth(dtype, 16401)}) {
      const auto first_frame = encoded(coder, array, data);
      std::vector<std::byte> first(data.size(), std::byte{0x00});
      ASSERT_TRUE(decode(first_frame, first, frame::file_mark()).ok());
      const auto second_frame = encoded(coder, array, data);
      std::vector<std::byte> second(data.size(), std::byte{0xFF});
      ASSERT_TRUE(decode(second_frame, second, frame::file_mark()).ok());
      EXPECT_EQ(first, second);
    }
  });
}

TEST(Message, EncodingTwiceGivesTheSameBytes) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;  // a new key each time
    const auto data = smooth(dtype, 50000);
    EXPECT_EQ(encoded(coder, line(dtype, 50000), data), encoded(coder, line(dtype, 50000), data));
  });
}

TEST(Message, AnyAlignment) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    const auto array = line(dtype, 1003);
    const auto data = smooth(dtype, 1003);
    for (std::size_t offset = 1; offset < 8; offset += 3) {
      std::vector<std::byte> moved(data.size() + offset), frame(*bound(coder, array) + offset);
      std::copy(data.begin(), data.end(), moved.begin() + static_cast<long>(offset));
      const MutableByteView target = MutableByteView(frame).subspan(offset);
      const auto written = encode(coder, array, moved.data() + offset, target, {});
      ASSERT_TRUE(written.ok());
      std::vector<std::byte> out(data.size() + offset);
      ASSERT_TRUE(
          decode(target.first(*written), MutableByteView(out).subspan(offset), frame::file_mark())
              .ok());
      if (coder.codec->lossless) {
        EXPECT_TRUE(std::equal(data.begin(), data.end(), out.begin() + static_cast<long>(offset)));
      }
    }
  });
}

TEST(Message, FixedSizeCodecsMeetTheirBoundExactly) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    if (!coder.codec->fixed_size) return;
    for (const std::uint64_t count : kLengths) {
      const auto array = line(dtype, count);
      const auto info = inspect(encoded(coder, array, smooth(dtype, count)), frame::file_mark());
      ASSERT_TRUE(info.ok());
      if (info->codec != coder.codec || coder.codec->test_only()) continue;  // went raw
      const codec::Chunk chunk{dtype, Shape::line(std::min<std::uint64_t>(count, 16384))};
      EXPECT_GE(info->header.body_bytes, coder.codec->bound(chunk, coder.parameter));
    }
  });
}

TEST(Message, WhatTheCodecDeclinesBecomesARawFrame) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    // Error-bounded codecs store such values.
    if (dtype != Dtype::kF32 || coder.codec->lossless || !coder.codec->fixed_size) return;
    std::vector<float> all = {std::numeric_limits<float>::quiet_NaN(),
                              -std::numeric_limits<float>::infinity()};
    if (coder.codec->each_by_itself) all = {std::numeric_limits<float>::max()};
    for (const float bad : all) {
      auto data = smooth(dtype, 20000);
      store(data.data() + 4 * 19999, bad);
      const auto frame = encoded(coder, line(dtype, 20000), data);
      std::vector<std::byte> out(data.size());
      const auto info = decode(frame, out, frame::file_mark());
      ASSERT_TRUE(info.ok());
      EXPECT_EQ(info->codec, &codec::raw_codec());
      EXPECT_EQ(out, data);
      EncodeOptions decline;
      decline.decline = true;
      std::vector<std::byte> target(*bound(coder, line(dtype, 20000)));
      EXPECT_EQ(encode(coder, line(dtype, 20000), data.data(), target, decline).status().code(),
                StatusCode::kDeclined);
    }
  });
}

TEST(Message, WhatWouldNotShrinkIsDeclined) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    const auto data = smooth(dtype, 3);
    EncodeOptions options;
    options.decline = true;
    std::vector<std::byte> frame(*bound(coder, line(dtype, 3)));
    const auto written = encode(coder, line(dtype, 3), data.data(), frame, options);
    EXPECT_EQ(written.status().code(), StatusCode::kDeclined);
  });
}

TEST(Message, RefusesWhatACodecDoesNotTake) {
  const auto spec = codec::parse_spec("zfp:rate=8");
  ASSERT_TRUE(spec.ok());
  const Coder coder{spec->codec, spec->parameter};
  EXPECT_EQ(bound(coder, line(Dtype::kBytes, 8)).status().code(), StatusCode::kUnsupported);
  Shape overflowing{.rank = 2, .extent = {1ull << 40, 1ull << 40}};
  EXPECT_EQ(bound(coder, {Dtype::kF32, overflowing}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(bound(coder, line(Dtype::kF32, 1ull << 62)).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Message, DestinationsThatAreTooSmallAreRefused) {
  const auto spec = codec::parse_spec("zfp:rate=16");
  ASSERT_TRUE(spec.ok());
  const Coder coder{spec->codec, spec->parameter};
  const auto data = smooth(Dtype::kF32, 1000);
  std::vector<std::byte> frame(*bound(coder, line(Dtype::kF32, 1000)) - 1);
  EXPECT_EQ(encode(coder, line(Dtype::kF32, 1000), data.data(), frame, {}).status().code(),
            StatusCode::kTooSmall);
  const auto sound = encoded(coder, line(Dtype::kF32, 1000), data);
  std::vector<std::byte> out(3999);
  EXPECT_EQ(decode(sound, out, frame::file_mark()).status().code(), StatusCode::kTooSmall);
}

TEST(Message, MeasuresEveryCodec) {
  for_each_coder([](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;
    const auto speed =
        measure(coder, {dtype, Shape{.rank = 3, .extent = {4, 64, (256 / dtype_size(dtype))}}});
    ASSERT_TRUE(speed.ok()) << speed.status().message();
    EXPECT_GT(speed->encode_bytes_per_second, 1e6);
    EXPECT_GT(speed->decode_bytes_per_second, 1e6);
    EXPECT_GT(speed->ratio, 0.9);
  });
}

TEST(Spec, ParsesAndRefuses) {
  EXPECT_EQ(codec::parse_spec("zfp:rate=16")->text(), "zfp:rate=16");
  EXPECT_EQ(codec::parse_spec("off")->text(), "off");
  EXPECT_EQ(codec::parse_spec("auto")->text(), "auto");
  for (const codec::Codec* codec : codec::all_codecs()) {
    EXPECT_EQ(codec::parse_spec(codec->example)->text(), codec->example);
  }
  for (const char* text :
       {"", "zfp", "zfp:", "zfp:rate", "zfp:rate=", "zfp:=8", "zfp:rate=8,", "zfp:rate=8,rate=8",
        "zfp:rate=8,colour=red", "zfp:rate=abc", "zfp:rate=0", "zfp:rate=1e9", "zfp:rate=nan",
        "zfpp:rate=8", "ZFP:rate=8", "off:x=1", "auto:x=1", "raw:x=1", " zfp:rate=8"}) {
    const auto spec = codec::parse_spec(text);
    EXPECT_EQ(spec.status().code(), StatusCode::kInvalidArgument) << "'" << text << "'";
    EXPECT_FALSE(spec.status().message().empty());
  }
}

}  // namespace
}  // namespace thinwire::message
