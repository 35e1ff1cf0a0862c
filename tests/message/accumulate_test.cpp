// Arrays of several axes, and decoding into sums, over every codec of the registry.
#include <gtest/gtest.h>

#include "arrays.h"
#include "codec/accumulate.h"
#include "message/host.h"

namespace thinwire::message {
namespace {

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = [] {
    std::vector<Shape> made;
    for (const auto& extents : std::vector<std::vector<std::uint64_t>>{{1},
                                                                       {5000},
                                                                       {1, 1},
                                                                       {3, 5},
                                                                       {65, 70},
                                                                       {64, 64},
                                                                       {1, 3000},
                                                                       {3000, 1},
                                                                       {129, 131},
                                                                       {1, 1, 1},
                                                                       {3, 5, 7},
                                                                       {16, 16, 16},
                                                                       {17, 18, 35},
                                                                       {2, 300, 3},
                                                                       {33, 4, 40}}) {
      Shape shape;
      shape.rank = static_cast<int>(extents.size());
      std::copy(extents.begin(), extents.end(), shape.extent.begin());
      made.push_back(shape);
    }
    return made;
  }();
  return all;
}

template <typename Body>
void for_each_array(Body&& body) {
  for_each_coder([&](const Coder& coder, Dtype dtype) {
    if (coder.codec->test_only()) return;  // one decode a frame
    for (const Shape& shape : shapes()) {
      if (shape.rank > coder.codec->max_rank) continue;
      std::string extents;
      for (int axis = 0; axis < shape.rank; ++axis) {
        extents += ' ' + std::to_string(shape.extent[static_cast<std::size_t>(axis)]);
      }
      SCOPED_TRACE(extents);
      body(coder, codec::Chunk{dtype, shape});
    }
  });
}

TEST(Accumulate, ArraysOfSeveralAxesComeBackInPlace) {
  for_each_array([](const Coder& coder, const codec::Chunk& array) {
    const auto data = smooth(array.dtype, array.shape.count());
    const auto frame = encoded(coder, array, data);
    std::vector<std::byte> out(data.size(), std::byte{0xA5});
    std::vector<std::byte> again(data.size(), std::byte{0x5A});
    ASSERT_TRUE(decode(frame, out, frame::file_mark()).ok());
    ASSERT_TRUE(decode(frame, again, frame::file_mark()).ok());
    EXPECT_EQ(out, again);
    if (coder.codec->lossless) {
      EXPECT_EQ(out, data);
    }
  });
}

template <Dtype kDtype>
void expect_sum(const std::vector<std::byte>& there, const std::vector<std::byte>& values,
                double scale, const std::vector<std::byte>& sum) {
  using Word = codec::WordOf<kDtype>;
  for (std::size_t at = 0; at < sum.size(); at += sizeof(Word)) {
    const Word wanted =
        codec::add_and_scale<kDtype>(load<Word>(there.data() + at), load<Word>(values.data() + at),
                                     static_cast<codec::NumberOf<kDtype>>(scale));
    ASSERT_EQ(load<Word>(sum.data() + at), wanted) << at;
  }
}

TEST(Accumulate, SumsAreWhatDecodingAndAddingGives) {
  for_each_array([](const Coder& coder, const codec::Chunk& array) {
    if (!is_added(array.dtype)) return;
    const auto frame = encoded(coder, array, smooth(array.dtype, array.shape.count()));
    std::vector<std::byte> values(array.raw_bytes());
    ASSERT_TRUE(decode(frame, values, frame::file_mark()).ok());
    const auto there = smooth(array.dtype, array.shape.count(), 7);
    for (const double scale : {1.0, 0.125, 1.0 / 3}) {
      auto sum = there;
      const codec::Accumulate accumulate{.adds = true, .scale = scale};
      ASSERT_TRUE(decode(frame, sum, frame::file_mark(), nullptr, accumulate).ok());
      switch (array.dtype) {
        case Dtype::kF32:
          expect_sum<Dtype::kF32>(there, values, scale, sum);
          break;
        case Dtype::kF64:
          expect_sum<Dtype::kF64>(there, values, scale, sum);
          break;
        case Dtype::kF16:
          expect_sum<Dtype::kF16>(there, values, scale, sum);
          break;
        default:
          expect_sum<Dtype::kBf16>(there, values, scale, sum);
          break;
      }
    }
  });
}

TEST(Accumulate, BytesAnd8BitFloatsAreNotAdded) {
  for (const Dtype dtype : {Dtype::kBytes, Dtype::kE4m3, Dtype::kE5m2}) {
    const auto frame = encoded(raw_coder(), line(dtype, 100), smooth(dtype, 100));
    std::vector<std::byte> out(100);
    const auto decoded = decode(frame, out, frame::file_mark(), nullptr, {.adds = true});
    EXPECT_EQ(decoded.status().code(), StatusCode::kUnsupported);
    EXPECT_EQ(decoded.status().message(),
              std::string("an array of ") + dtype_name(dtype) + " cannot be added to another");
  }
}

}  // namespace
}  // namespace thinwire::message
