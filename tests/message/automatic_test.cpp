// "auto": lossless always, chosen by the data, raw if nothing pays.
#include "message/automatic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "base/vector_units.h"
#include "message/strides.h"

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
  const auto written =
      encode_automatically(array, data.data(), frame, {.least_ratio = least_ratio}, {});
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

// The order is that of the rows; it decides between equal samples, so it stays.
TEST(Automatic, TriesCodecsInTheirPlaces) {
  const std::vector<std::string> expected[kDtypeCount] = {{},
                                                          {"lorenzo", "expack", "mpc", "ans"},
                                                          {"lorenzo", "mpc", "ans"},
                                                          {"expack", "lorenzo", "ans"},
                                                          {"expack", "lorenzo", "ans"},
                                                          {"expack", "ans"},
                                                          {"expack", "ans"}};
  for_each_dtype([&](Dtype dtype) {
    std::vector<std::string> names;
    for (const Coder& coder : automatic_candidates(dtype)) {
      names.push_back(coder.codec->name);
    }
    EXPECT_EQ(names, expected[static_cast<int>(dtype)]);
  });
}

TEST(Automatic, AStrideOptionSaysWhatTheCodecTakes) {
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (codec->strides.key == nullptr) continue;
    for (const int stride : {-1, 0, 1, codec->strides.most, codec->strides.most + 1}) {
      const std::string value = std::to_string(stride);
      const codec::Option option{codec->strides.key, value};
      const bool is_taken =
          stride >= (codec->strides.has_none ? 0 : 1) && stride <= codec->strides.most;
      EXPECT_EQ(codec->parse({&option, 1}).ok(), is_taken) << codec->name << " " << stride;
    }
  }
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
    const auto choice = choose_automatically(array, data.data(), {}, nullptr);
    ASSERT_TRUE(choice.ok());
    EXPECT_NE(choice->coder.codec, &codec::raw_codec());
    EXPECT_GT(choice->ratio, kLeastRatio);
    for (const Coder& coder : automatic_candidates(dtype)) {
      if (!coder.codec->takes(dtype) || coder.codec == codec::find_codec("ans")) continue;
      EXPECT_GE(1.05 * static_cast<double>(encoded(coder, array, data).size()),
                static_cast<double>(encoded_automatically(array, data).size()));
    }
  }
}

// Few values in no order: by their frequencies they take less than by their exponents or
// differences.
std::vector<std::byte> few_values(std::size_t count) {
  std::mt19937 random(5);
  std::vector<float> values(count);
  for (float& value : values) value = 1.1f * static_cast<float>(random() % 7) + 0.3f;
  std::vector<std::byte> data(count * sizeof(float));
  std::memcpy(data.data(), values.data(), data.size());
  return data;
}

// A slow codec is chosen by what a fast one would take of the time on the link.
TEST(Automatic, TakesTheSlowCodecWhereItsTimeDoesNotMatter) {
  const auto array = line(Dtype::kF32, 200000);
  const auto data = few_values(200000);
  for (const auto& [share, is_slow] : {std::pair{0.0, true},
                                       {0.001, true},
                                       {0.1, has_wide_vectors()},
                                       {0.3, false},
                                       {1.0, false}}) {
    const auto choice = choose_automatically(array, data.data(), {.codec_share = share}, nullptr);
    ASSERT_TRUE(choice.ok());
    EXPECT_EQ(choice->coder.codec == codec::find_codec("ans"), is_slow) << share;
  }
  EXPECT_EQ(terms_of(0).codec_share, 1);
  EXPECT_EQ(terms_of(1).codec_share, 0);
  EXPECT_NEAR(terms_of(1.25).codec_share, 0.2, 1e-9);
}

// Half of each mantissa is zeros, which prediction in integers carries along.
TEST(Automatic, FindsSinglePrecisionHeldInDouble) {
  const auto array = line(Dtype::kF64, 50000);
  std::vector<std::byte> data(array.raw_bytes());
  for (std::size_t at = 0; at < 50000; ++at) {
    const double value = std::sqrt(static_cast<float>(at) + 2.0F);
    std::memcpy(data.data() + at * sizeof value, &value, sizeof value);
  }
  const auto choice = choose_automatically(array, data.data(), {}, nullptr);
  ASSERT_TRUE(choice.ok());
  EXPECT_STREQ(choice->coder.codec->name, "mpc");
  EXPECT_GT(choice->ratio, 2);
}

// Triples of smooth values: what is next to each other has nothing in common.
TEST(Automatic, FindsTuples) {
  constexpr std::size_t kPoints = 60000;
  std::vector<float> values(3 * kPoints);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const auto point = static_cast<float>(at / 3), axis = static_cast<float>(at % 3);
    values[at] = (axis - 1) * 1000 + (axis + 1) * std::sin(0.001f * point + axis);
  }
  std::vector<std::byte> data(values.size() * sizeof(float));
  std::memcpy(data.data(), values.data(), data.size());
  const auto choice =
      choose_automatically(line(Dtype::kF32, values.size()), data.data(), {}, nullptr);
  ASSERT_TRUE(choice.ok());
  const std::string options = choice->coder.codec->describe(choice->coder.parameter);
  EXPECT_TRUE(options == "tuple=3" || options == "stride=3") << options;
}

// Records of several numbers of their own sizes, each of which changes little from one to the next.
std::vector<std::byte> records(Dtype dtype, std::size_t width, std::size_t count) {
  std::mt19937_64 random(width);
  std::vector<std::byte> data(count * width * dtype_size(dtype));
  for (std::size_t at = 0; at < count * width; ++at) {
    const auto column = static_cast<double>(at % width), row = static_cast<double>(at / width);
    const double noise = static_cast<double>(random() >> 11) * 0x1p-53;
    const double value = std::exp(3 * std::sin(7 * column)) *
                         (1 + 0.01 * std::sin(0.003 * row + column) + 1e-5 * noise);
    const auto single = static_cast<float>(value);
    const void* from = dtype == Dtype::kF32 ? static_cast<const void*>(&single) : &value;
    std::memcpy(data.data() + at * dtype_size(dtype), from, dtype_size(dtype));
  }
  return data;
}

TEST(Automatic, FindsRecordsOfManyNumbers) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    for (const std::size_t width : {2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 24, 30}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + ", " + std::to_string(width));
      const std::size_t count = 100000 / width;
      const codec::Chunk array = line(dtype, count * width);
      const auto data = records(dtype, width, count);
      std::size_t least = data.size();
      for (const std::size_t stride : {std::size_t{1}, width}) {
        least = std::min(
            least, encoded(by_stride(*codec::find_codec("mpc"))[stride - 1], array, data).size());
      }
      const std::size_t chosen = encoded_automatically(array, data).size();
      EXPECT_LE(static_cast<double>(chosen), 1.02 * static_cast<double>(least));
    }
  }
}

// Random numbers, each the one of 30 values before.
TEST(Automatic, FindsRecordsThatRepeat) {
  constexpr std::size_t kWidth = 30, kCount = 90000;
  const codec::Chunk array = line(Dtype::kF64, kCount);
  const auto record = random_bytes(kWidth * sizeof(double));
  std::vector<std::byte> data;
  while (data.size() < array.raw_bytes()) data.insert(data.end(), record.begin(), record.end());
  const auto choice = choose_automatically(array, data.data(), {}, nullptr);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->coder.codec->describe(choice->coder.parameter), "stride=30");
}

// Values in some rows of each box, nothing in the others: what is seen as a line is compared at the
// same rows.
TEST(Automatic, ComparesBoxesAndLinesAtTheSameRows) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    SCOPED_TRACE(dtype_name(dtype));
    const codec::Chunk array{dtype, {.rank = 2, .extent = {512, 256}}};
    std::vector<std::byte> data(array.raw_bytes());
    for (std::size_t at = 0; at < array.shape.count(); ++at) {
      const auto x = static_cast<double>(at % 256), y = static_cast<double>(at / 256);
      if (at / 256 % 128 < 60) continue;
      const double value = std::sin(0.5 * x) * 3 + std::cos(0.01 * y);
      const auto single = static_cast<float>(value);
      const void* from = dtype == Dtype::kF32 ? static_cast<const void*>(&single) : &value;
      std::memcpy(data.data() + at * dtype_size(dtype), from, dtype_size(dtype));
    }
    const Coder lorenzo = automatic_candidates(dtype)[0];
    ASSERT_STREQ(lorenzo.codec->name, "lorenzo");
    Coder as_line = lorenzo;
    as_line.as_line = true;
    const std::size_t least =
        std::min(encoded(lorenzo, array, data).size(), encoded(as_line, array, data).size());
    const std::size_t chosen = encoded_automatically(array, data).size();
    EXPECT_LE(static_cast<double>(chosen), 1.02 * static_cast<double>(least));
  }
}

// One place alone would mislead: here nothing gets smaller, there everything.
TEST(Automatic, LooksAtManyPlaces) {
  constexpr std::uint64_t kCount = 1 << 20;
  const auto array = line(Dtype::kF32, kCount);
  std::vector<std::byte> data = smooth(Dtype::kF32, kCount);
  const auto noise = random_bytes(data.size());
  const auto third = static_cast<std::ptrdiff_t>(data.size() / 3);
  std::copy(noise.begin() + third, noise.end() - third, data.begin() + third);
  const auto choice = choose_automatically(array, data.data(), {}, nullptr);
  ASSERT_TRUE(choice.ok());
  EXPECT_NE(choice->coder.codec, &codec::raw_codec());
  const double ratio = static_cast<double>(data.size()) /
                       static_cast<double>(encoded_automatically(array, data).size());
  EXPECT_NEAR(choice->ratio, ratio, 0.05 * ratio);
}

// A frame of either says how it was coded, and keeps the array's shape.
TEST(Automatic, TakesAxesTogetherOrNone) {
  const Coder lorenzo = automatic_candidates(Dtype::kF32)[0];
  ASSERT_STREQ(lorenzo.codec->name, "lorenzo");
  // Two rows that have nothing in common: better as one line.
  const codec::Chunk rows{Dtype::kF32, {.rank = 2, .extent = {2, 90000}}};
  std::vector<std::byte> data = smooth(Dtype::kF32, 90000);
  const auto noise = random_bytes(data.size());
  data.insert(data.end(), noise.begin(), noise.end());
  const auto as_line = encoded_automatically(rows, data);
  EXPECT_TRUE(inspect(as_line, frame::file_mark())->header.as_line);
  EXPECT_LT(as_line.size(), encoded(lorenzo, rows, data).size());
  // A volume of vectors: as a volume.
  const codec::Chunk volume{Dtype::kF32, {.rank = 4, .extent = {3, 20, 64, 64}}};
  std::vector<std::byte> values(volume.raw_bytes());
  for (std::size_t at = 0; at < volume.shape.count(); ++at) {
    const auto x = static_cast<float>(at % 64), y = static_cast<float>(at / 64 % 64);
    const auto z = static_cast<float>(at / 4096 % 20);
    const float value = std::sin(0.02f * x) * std::cos(0.7f * y) + 0.1f * z;
    std::memcpy(values.data() + at * sizeof value, &value, sizeof value);
  }
  const auto folded = encoded_automatically(volume, values);
  const auto header = inspect(folded, frame::file_mark())->header;
  EXPECT_EQ(header.codec, lorenzo.codec->id);
  EXPECT_FALSE(header.as_line);
  EXPECT_EQ(header.version, frame::kCodedShapesVersion);
  for (const auto& [array, frame, values_of] :
       {std::tuple{rows, as_line, data}, std::tuple{volume, folded, values}}) {
    std::vector<std::byte> out(values_of.size());
    const auto info = decode(frame, out, frame::file_mark());
    ASSERT_TRUE(info.ok()) << info.status().message();
    EXPECT_EQ(out, values_of);
    EXPECT_EQ(info->header.shape, array.shape);
  }
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
    EXPECT_EQ(encode_automatically(array, noise.data(), room, {}, options).status().code(),
              StatusCode::kDeclined);
  });
}

}  // namespace
}  // namespace thinwire::message
