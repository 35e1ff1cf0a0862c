// tw_codec_shape(): the shape that a spec gives a count of elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

tw_status shape_of(const char* spec, std::uint32_t dtype, std::uint64_t count, tw_shape* shape) {
  tw_codec* codec = nullptr;
  EXPECT_EQ(tw_codec_create(spec, &codec), TW_OK) << tw_last_error();
  const tw_status status = tw_codec_shape(codec, dtype, count, shape);
  tw_codec_destroy(codec);
  return status;
}

TEST(CApiShape, ComesFromTheSpecWhereItFits) {
  tw_shape shape{};
  ASSERT_EQ(shape_of("zfp:rate=8,shape=24x?x10", TW_F64, 24 * 30 * 10, &shape), TW_OK);
  EXPECT_EQ(shape.dtype, static_cast<std::uint32_t>(TW_F64));
  EXPECT_EQ(shape.rank, 3u);
  EXPECT_EQ(shape.extent[0], 24u);
  EXPECT_EQ(shape.extent[1], 30u);
  EXPECT_EQ(shape.extent[2], 10u);
}

TEST(CApiShape, IsALineOtherwise) {
  for (const char* spec : {"off", "auto", "raw", "zfp:rate=8", "raw:shape=7x7", "mpc:shape=7x7"}) {
    tw_shape shape{};
    ASSERT_EQ(shape_of(spec, TW_F32, 100, &shape), TW_OK) << spec;
    EXPECT_EQ(shape.rank, 1u) << spec;
    EXPECT_EQ(shape.extent[0], 100u) << spec;
  }
}

TEST(CApiShape, IsRefusedForLossyCodecsThatItDoesNotFit) {
  tw_shape shape{};
  shape.rank = 77;
  EXPECT_EQ(shape_of("zfp:rate=8,shape=7x7", TW_F32, 100, &shape), TW_UNSUPPORTED);
  EXPECT_NE(std::strstr(tw_last_error(), "shape=7x7 does not fit 100"), nullptr);
  EXPECT_EQ(shape.rank, 77u);  // outputs are written on success only
}

// A field that is smooth along every axis: planes and volumes keep more of it than a line does.
TEST(CApiShape, FramesCarryItAndCodeAlongEveryAxis) {
  constexpr std::size_t kSide = 48;
  std::vector<double> values(kSide * kSide * kSide);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(0.1 * static_cast<double>(i % kSide)) *
                    std::cos(0.2 * static_cast<double>(i / kSide % kSide)) +
                0.05 * static_cast<double>(i / kSide / kSide);
  }
  double last = 1e9;
  for (const char* spec : {"zfp:rate=6", "zfp:rate=6,shape=?x48", "zfp:rate=6,shape=48x48x48"}) {
    tw_codec* codec = nullptr;
    ASSERT_EQ(tw_codec_create(spec, &codec), TW_OK);
    tw_shape shape{};
    ASSERT_EQ(tw_codec_shape(codec, TW_F64, values.size(), &shape), TW_OK);
    std::uint64_t bound = 0, written = 0;
    ASSERT_EQ(tw_message_bound(codec, &shape, &bound), TW_OK);
    std::vector<char> frame(bound);
    ASSERT_EQ(
        tw_message_encode(codec, &shape, values.data(), frame.data(), bound, nullptr, &written),
        TW_OK);
    tw_message_info info{};
    info.size = sizeof info;
    std::vector<double> out(values.size());
    ASSERT_EQ(tw_message_decode(frame.data(), written, out.data(), 8 * out.size(), nullptr, &info),
              TW_OK);
    EXPECT_EQ(info.shape.rank, shape.rank);
    EXPECT_EQ(info.shape.extent[0], shape.extent[0]);
    EXPECT_STREQ(info.spec, "zfp:rate=6");
    double worst = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      worst = std::max(worst, std::abs(out[i] - values[i]));
    }
    EXPECT_LT(worst, last / 2) << spec;
    last = worst;
    tw_codec_destroy(codec);
  }
}

TEST(CApiShape, MisuseIsRefused) {
  tw_shape shape{};
  EXPECT_EQ(tw_codec_shape(nullptr, TW_F32, 1, &shape), TW_INVALID_ARGUMENT);
  EXPECT_EQ(shape_of("raw", TW_F32, 1, nullptr), TW_INVALID_ARGUMENT);
  EXPECT_EQ(shape_of("raw", 9, 1, &shape), TW_INVALID_ARGUMENT);
}

}  // namespace
