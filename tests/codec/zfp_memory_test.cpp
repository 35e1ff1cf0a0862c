// Hostile lengths, odd addresses, padding: what is read and written where.
#include <gtest/gtest.h>

#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

constexpr std::size_t kGuard = 64;
constexpr std::byte kCanary{0xA5};

template <typename Scalar>
class ZfpMemory : public ::testing::Test {};
TYPED_TEST_SUITE(ZfpMemory, ZfpScalars, DtypeNames);

TYPED_TEST(ZfpMemory, OtherLengthsAreDamage) {
  for (const Shape& shape : some_shapes()) {
    const Chunk chunk{kDtypeOf<TypeParam>, shape};
    std::vector<std::byte> out(chunk.raw_bytes());
    for (const std::uint64_t rate : {1, 201, 1024, 2048}) {
      const auto right = kZfp.bound(chunk, rate);
      const std::vector<std::byte> bytes(2 * right);
      for (std::uint64_t length = 0; length <= 2 * right; ++length) {
        const Status status = kZfp.decode(ByteView(bytes).first(length), chunk, rate, out.data());
        EXPECT_EQ(status.code(), length == right ? StatusCode::kOk : StatusCode::kDamaged)
            << length;
      }
    }
  }
}

// `size` bytes at an odd address between canaries.
struct Guarded {
  Guarded(std::size_t size, std::size_t shift)
      : bytes(kGuard + shift + size + kGuard, kCanary), at(bytes.data() + kGuard + shift) {}

  bool intact(std::size_t size) const {
    const auto canary = [](std::byte byte) { return byte == kCanary; };
    return std::all_of(bytes.data(), static_cast<const std::byte*>(at), canary) &&
           std::all_of(static_cast<const std::byte*>(at) + size, bytes.data() + bytes.size(),
                       canary);
  }

  std::vector<std::byte> bytes;
  std::byte* at;
};

TYPED_TEST(ZfpMemory, UnalignedBuffersWithCanaries) {
  for (const Shape& shape : some_shapes()) {
    const auto values = make_array<TypeParam>(Kind::kNormal, shape.count());
    const Chunk chunk{kDtypeOf<TypeParam>, shape};
    for (const std::uint64_t rate : {1, 144, 201, 512, 723, 1024, 1040, 2047, 2048}) {
      SCOPED_TRACE(::testing::Message() << shape.count() << " values, " << rate << "/64 bits");
      const auto size = kZfp.bound(chunk, rate);
      const std::size_t shift = 1 + (shape.count() + rate) % 7;
      std::vector<std::byte> source(shift + chunk.raw_bytes());
      std::memcpy(source.data() + shift, values.data(), chunk.raw_bytes());
      Guarded encoded(size, shift);
      ASSERT_EQ(*kZfp.encode(source.data() + shift, chunk, rate, encoded.at), size);
      Guarded decoded(chunk.raw_bytes(), shift);
      ASSERT_TRUE(kZfp.decode(ByteView(encoded.at, size), chunk, rate, decoded.at).ok());
      EXPECT_TRUE(encoded.intact(size));
      EXPECT_TRUE(decoded.intact(chunk.raw_bytes()));

      const auto aligned = *encode_array(values, shape, rate);
      EXPECT_TRUE(std::equal(aligned.begin(), aligned.end(), encoded.at, encoded.at + size));
      std::vector<TypeParam> result(values.size());
      std::memcpy(result.data(), decoded.at, chunk.raw_bytes());
      EXPECT_EQ(bits_of(result), bits_of(*decode_array<TypeParam>(aligned, shape, rate)));
    }
  }
}

TYPED_TEST(ZfpMemory, PaddingIsIgnored) {
  for (const Shape& shape : {Shape::line(5), make_shape({3, 5}), make_shape({3, 3, 5})}) {
    const auto values = make_array<TypeParam>(Kind::kNormal, shape.count());
    constexpr std::uint64_t kRate = 369;  // 23, 92, 369 bits a block: not whole words of two
    auto stream = *encode_array(values, shape, kRate);
    const auto clean = *decode_array<TypeParam>(stream, shape, kRate);
    stream.back() = std::byte{0xff};
    EXPECT_EQ(bits_of(*decode_array<TypeParam>(stream, shape, kRate)), bits_of(clean));
  }
}

}  // namespace
}  // namespace thinwire::codec::testing
