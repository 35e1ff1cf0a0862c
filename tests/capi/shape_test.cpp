// tw_codec_shape(): the shape that a spec gives a count of elements.
#include <gtest/gtest.h>

#include <cstring>

#include "thinwire/thinwire.h"

namespace {

tw_status shape_of(const char* spec, tw_dtype dtype, std::uint64_t count, tw_shape* shape) {
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
  for (const char* spec :
       {"off", "auto", "raw", "zfp:rate=8", "raw:shape=7x7", "mpc:shape=10x10"}) {
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

TEST(CApiShape, MisuseIsRefused) {
  tw_shape shape{};
  EXPECT_EQ(tw_codec_shape(nullptr, TW_F32, 1, &shape), TW_INVALID_ARGUMENT);
  EXPECT_EQ(shape_of("raw", TW_F32, 1, nullptr), TW_INVALID_ARGUMENT);
  EXPECT_EQ(shape_of("raw", static_cast<tw_dtype>(9), 1, &shape), TW_INVALID_ARGUMENT);
}

}  // namespace
