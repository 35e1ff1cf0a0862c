// Differences are exact, and a delta packet is refused unless all of it is right.
#include "message/delta.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/checksum.h"
#include "codec/registry.h"

namespace thinwire::message {
namespace {

std::vector<std::byte> random_bytes(std::uint64_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> made(bytes);
  for (std::byte& byte : made) byte = static_cast<std::byte>(random());
  return made;
}

TEST(Delta, DifferencesOfAnyBitsAreExact) {
  for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
    const auto type = static_cast<Dtype>(dtype);
    for (const std::uint64_t count : {0, 1, 3, 64, 1001}) {
      const std::uint64_t bytes = count * dtype_size(type);
      const auto values = random_bytes(bytes, 1), reference = random_bytes(bytes, 2);
      std::vector<std::byte> difference(bytes);
      take_difference(type, bytes, values.data(), reference.data(), difference.data());
      add_difference(type, bytes, reference.data(), difference.data());
      EXPECT_EQ(difference, values);
      take_difference(type, bytes, values.data(), values.data(), difference.data());
      EXPECT_EQ(difference, std::vector<std::byte>(bytes));
    }
  }
}

// spec/delta.md: 0, -1, 1, -2 as 0, 1, 2, 3.
TEST(Delta, TheLowestBitIsTheSign) {
  const std::uint16_t reference[] = {100, 100, 100, 100, 0, 0xFFFF};
  const std::uint16_t values[] = {100, 99, 101, 98, 0x8000, 0};
  const std::uint16_t expected[] = {0, 1, 2, 3, 0xFFFF, 2};
  std::uint16_t found[6];
  take_difference(Dtype::kBf16, sizeof values, std::as_bytes(std::span(values)).data(),
                  std::as_bytes(std::span(reference)).data(),
                  std::as_writable_bytes(std::span(found)).data());
  EXPECT_EQ(std::vector(found, found + 6), std::vector(expected, expected + 6));
  EXPECT_EQ(difference_bits(Dtype::kBf16, sizeof values, std::as_bytes(std::span(values)).data(),
                            std::as_bytes(std::span(reference)).data()),
            0u + 1 + 2 + 2 + 16 + 2);
}

struct Packet {
  const codec::Chunk array{Dtype::kBf16, Shape::line(3000)};
  const std::vector<std::byte> reference = random_bytes(6000, 3);
  std::vector<std::byte> values = reference;
  std::vector<std::byte> packet;

  explicit Packet(const char* codec = "expack") {
    for (std::size_t at = 0; at < values.size(); at += 60) values[at] ^= std::byte{1};
    std::vector<std::byte> difference(values.size());
    take_difference(array.dtype, values.size(), values.data(), reference.data(), difference.data());
    const Coder coder{codec::find_codec(codec), codec::find_codec(codec)->parse({}).ok()
                                                    ? *codec::find_codec(codec)->parse({})
                                                    : 0};
    packet.resize(frame::kDeltaBytes + *bound(coder, array));
    frame::pack_delta({17, checksum(reference)}, frame::file_mark(), packet.data());
    const auto length = encode(coder, array, difference.data(),
                               MutableByteView(packet).subspan(frame::kDeltaBytes), {});
    packet.resize(frame::kDeltaBytes + *length);
  }

  Status decode(const Reference& by, std::vector<std::byte>& into) const {
    return decode_delta(packet, array, by, frame::file_mark(), into.data());
  }
};

TEST(Delta, IsDecodedByItsReferenceAlone) {
  const Packet made;
  EXPECT_LT(made.packet.size(), 2000u);
  std::vector<std::byte> out(6000);
  ASSERT_TRUE(made.decode({17, made.reference.data()}, out).ok());
  EXPECT_EQ(out, made.values);

  const std::vector<std::byte> untouched(6000, std::byte{0x77});
  out = untouched;
  EXPECT_EQ(made.decode({18, made.reference.data()}, out).code(), StatusCode::kDamaged);
  EXPECT_EQ(made.decode({17, nullptr}, out).code(), StatusCode::kDamaged);
  EXPECT_EQ(made.decode({}, out).code(), StatusCode::kDamaged);
  std::vector<std::byte> harmed = made.reference;
  harmed[4321] ^= std::byte{4};
  EXPECT_EQ(made.decode({17, harmed.data()}, out).code(), StatusCode::kDamaged);
  EXPECT_EQ(out, untouched);
}

TEST(Delta, DamageAnywhereIsToldAndCutsToo) {
  const Packet made;
  std::vector<std::byte> out(6000);
  const Reference by{17, made.reference.data()};
  for (std::size_t at = 0; at < made.packet.size(); ++at) {
    Packet harmed = made;
    harmed.packet[at] ^= std::byte{0x20};
    EXPECT_FALSE(harmed.decode(by, out).ok()) << at;
    Packet cut = made;
    cut.packet.resize(at);
    EXPECT_FALSE(cut.decode(by, out).ok()) << at;
  }
}

TEST(Delta, OfAnotherArrayOrALossyCodecIsRefused) {
  const Packet made;
  std::vector<std::byte> out(6000);
  const Reference by{17, made.reference.data()};
  for (const codec::Chunk& array :
       {codec::Chunk{Dtype::kF16, Shape::line(3000)}, codec::Chunk{Dtype::kBf16, {2, {30, 100}}}}) {
    EXPECT_EQ(decode_delta(made.packet, array, by, frame::file_mark(), out.data()).code(),
              StatusCode::kDamaged);
  }
  const Packet lossy("blockq");
  EXPECT_EQ(lossy.decode(by, out).code(), StatusCode::kDamaged);
}

// A reader of frames alone, as builds of before are, refuses it at its mark.
TEST(Delta, IsNoFrame) {
  const Packet made;
  EXPECT_EQ(inspect(made.packet, frame::file_mark()).status().code(), StatusCode::kNotAFrame);
  const frame::Mark job = frame::job_mark(std::as_bytes(std::span("job", 3)));
  EXPECT_FALSE(frame::is_delta(made.packet, job));
  EXPECT_EQ(frame::unpack_delta(made.packet, job).status().code(), StatusCode::kNotAFrame);
}

}  // namespace
}  // namespace thinwire::message
