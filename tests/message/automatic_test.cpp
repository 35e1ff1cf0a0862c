// "auto": lossless always, chosen by the data, raw where nothing pays.
#include "message/automatic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "arrays.h"

namespace thinwire::message {
namespace {

template <typename Body>
void for_each_dtype(Body&& body) {
  for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
    SCOPED_TRACE(dtype_name(static_cast<Dtype>(dtype)));
    body(static_cast<Dtype>(dtype));
  }
}

std::vector<std::byte> random_bytes(std::uint64_t count) {
  std::mt19937_64 random(3);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

std::vector<std::byte> encoded_automatically(const codec::Chunk& array,
                                             const std::vector<std::byte>& data,
                                             double least_ratio = kLeastRatio) {
  std::vector<std::byte> frame(*automatic_bound(array));
  const auto written = encode_automatically(array, data.data(), frame, least_ratio, {});
  EXPECT_TRUE(written.ok()) << written.status().message();
  frame.resize(written.ok() ? *written : 0);
  return frame;
}

// Promise 1.
TEST(Automatic, EveryCandidateIsLossless) {
  for_each_dtype([](Dtype dtype) {
    for (const Coder& coder : automatic_candidates(dtype)) {
      EXPECT_TRUE(coder.codec->lossless) << coder.codec->name;
      EXPECT_TRUE(coder.codec->takes(dtype)) << coder.codec->name;
      EXPECT_FALSE(coder.codec->open(coder.parameter)) << coder.codec->name;
    }
    EXPECT_TRUE(automatic_in_stream(line(dtype, 100)).codec->lossless);
  });
}

TEST(Automatic, EveryArrayComesBackInItsShape) {
  for_each_dtype([](Dtype dtype) {
    for (const auto& extents : std::vector<std::vector<std::uint64_t>>{
             {0}, {1}, {70000}, {300, 500}, {40, 41, 42}, {3, 5, 7, 9}}) {
      Shape shape;
      shape.rank = static_cast<int>(extents.size());
      std::copy(extents.begin(), extents.end(), shape.extent.begin());
      const codec::Chunk array{dtype, shape};
      const auto data = smooth(dtype, shape.count());
      const auto frame = encoded_automatically(array, data);
      std::vector<std::byte> out(data.size());
      const auto info = decode(frame, out, frame::file_mark());
      ASSERT_TRUE(info.ok()) << info.status().message();
      EXPECT_EQ(out, data);
      EXPECT_EQ(info->header.shape, shape);
    }
  });
}

TEST(Automatic, TakesWhatMakesTheLeastOfTheData) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kBf16}) {
    SCOPED_TRACE(dtype_name(dtype));
    if (automatic_candidates(dtype).empty()) continue;
    const auto array = line(dtype, 50000);
    const auto data = smooth(dtype, 50000);
    std::vector<std::byte> scratch(*automatic_bound(array));
    const auto choice = choose_automatically(array, data.data(), kLeastRatio, scratch, nullptr);
    ASSERT_TRUE(choice.ok());
    EXPECT_NE(choice->coder.codec, &codec::raw_codec());
    EXPECT_GT(choice->ratio, kLeastRatio);
    for (const Coder& coder : automatic_candidates(dtype)) {
      if (!coder.codec->takes(dtype)) continue;
      EXPECT_GE(1.05 * static_cast<double>(encoded(coder, array, data).size()),
                static_cast<double>(encoded_automatically(array, data).size()));
    }
  }
}

// Half of each mantissa is zeros, which prediction in integers carries along.
TEST(Automatic, FindsSinglePrecisionHeldInDouble) {
  const auto array = line(Dtype::kF64, 50000);
  std::vector<std::byte> data(array.raw_bytes());
  for (std::size_t at = 0; at < 50000; ++at) {
    const double value = std::sqrt(static_cast<float>(at) + 2.0F);
    std::memcpy(data.data() + at * sizeof value, &value, sizeof value);
  }
  std::vector<std::byte> scratch(*automatic_bound(array));
  const auto choice = choose_automatically(array, data.data(), kLeastRatio, scratch, nullptr);
  ASSERT_TRUE(choice.ok());
  EXPECT_STREQ(choice->coder.codec->name, "mpc");
  EXPECT_GT(choice->ratio, 2);
}

TEST(Automatic, GoesRawBelowTheLeastRatio) {
  for_each_dtype([](Dtype dtype) {
    const auto array = line(dtype, 50000);
    const auto noise = random_bytes(array.raw_bytes());
    EXPECT_EQ(inspect(encoded_automatically(array, noise), frame::file_mark())->codec,
              &codec::raw_codec());
    const auto frame = encoded_automatically(array, smooth(dtype, 50000), 1000);
    EXPECT_EQ(inspect(frame, frame::file_mark())->codec, &codec::raw_codec());
    std::vector<std::byte> room(*automatic_bound(array));
    EncodeOptions options;
    options.decline = true;
    EXPECT_EQ(encode_automatically(array, noise.data(), room, kLeastRatio, options).status().code(),
              StatusCode::kDeclined);
  });
}

}  // namespace
}  // namespace thinwire::message
