// Masks of the ans codec: which chunks get them, and payloads with one that a decoder refuses.
#include "codec/ans/masks.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>

#include "codec/ans_outcome.h"
#include "codec/ans_values.h"
#include "codec/words.h"

namespace thinwire::codec::testing {
namespace {

using ans::kInPieces;
using ans::kPieceValues;

template <typename Word>
Bytes payload_of(const std::vector<Word>& values, std::uint64_t tuple = 0) {
  const Chunk chunk{kAnsDtypeOf<Word>, Shape::line(values.size())};
  const auto* const from = reinterpret_cast<const std::byte*>(values.data());
  return encoded(kAns, from, chunk, kInPieces | tuple);
}

template <typename Word>
std::uint32_t first_word(const std::vector<Word>& values) {
  return load<std::uint32_t>(payload_of(values).data());
}

// The values decode to themselves, and their chunk has masks if and only if it should.
template <typename Word>
void expect_mask(const std::vector<Word>& values, bool should) {
  const Bytes payload = payload_of(values);
  const Chunk chunk{kAnsDtypeOf<Word>, Shape::line(values.size())};
  ASSERT_LT(payload.size(), chunk.raw_bytes());
  EXPECT_EQ(ans::has_mask<Word>(load<std::uint32_t>(payload.data())), should);
  std::vector<Word> out(values.size(), static_cast<Word>(0x5A));
  auto* const to = reinterpret_cast<std::byte*>(out.data());
  ASSERT_TRUE(kAns.decode(payload, chunk, kInPieces, to).ok());
  EXPECT_EQ(out, values);
}

// So many eighths of a piece's values are 0, five in a row, the others of 60 kinds, some of them
// with a highest byte of 0.
template <typename Word>
std::vector<Word> some_zeros(std::size_t count, const std::array<std::size_t, 4>& eighths) {
  std::mt19937 random(7);
  std::vector<Word> values(count);
  for (std::size_t at = 0; at < count; ++at) {
    const auto other = static_cast<Word>(random() % 60 + 1);
    const bool is_high = random() % 2 != 0;
    if (at / 5 % 8 < eighths[at / kPieceValues<Word>]) continue;
    values[at] = static_cast<Word>(is_high ? other << 4 * sizeof(Word) : other);
  }
  return values;
}

template <typename Word>
void expect_masks() {
  constexpr std::size_t kPiece = kPieceValues<Word>, kWhole = 4 * kPiece;
  for (const std::size_t count : {std::size_t{1000}, kPiece, kPiece + 3, kWhole - 1, kWhole}) {
    SCOPED_TRACE(count);
    expect_mask(some_zeros<Word>(count, {4, 4, 4, 4}), true);
    expect_mask(some_zeros<Word>(count, {6, 6, 6, 6}), true);
    expect_mask(some_zeros<Word>(count, {0, 0, 0, 0}), false);
    expect_mask(some_zeros<Word>(count, {8, 8, 8, 8}), false);
  }
  // Pieces of zeros alone, of some, and of none.
  expect_mask(some_zeros<Word>(kWhole, {8, 6, 0, 4}), true);
  expect_mask(some_zeros<Word>(kWhole, {0, 5, 5, 8}), true);
  expect_mask(some_zeros<Word>(kWhole - 5, {8, 4, 4, 0}), true);
  // Without a mask these leave all planes but one, too.
  expect_mask(some_zeros<Word>(kWhole, {8, 0, 0, 8}), false);
}

TEST(AnsMasks, OfTwoBytes) { expect_masks<std::uint16_t>(); }
TEST(AnsMasks, OfFourBytes) { expect_masks<std::uint32_t>(); }
TEST(AnsMasks, OfEightBytes) { expect_masks<std::uint64_t>(); }
TEST(AnsMasks, OneByteHasNone) {
  EXPECT_EQ(first_word(some_zeros<std::uint8_t>(8192, {4, 4, 4, 4})) >> 1, 0u);
  // A decoder refuses the bit.
  const std::vector<std::uint8_t> values(500, 7);
  Bytes payload = payload_of(values);
  store(payload.data(), load<std::uint32_t>(payload.data()) | 2);
  EXPECT_EQ(ans_outcome(payload, Dtype::kE4m3, 500, kInPieces), StatusCode::kDamaged);
  payload.insert(payload.begin() + 8, 12, std::byte{0xff});
  EXPECT_EQ(ans_outcome(payload, Dtype::kE4m3, 500, kInPieces), StatusCode::kDamaged);
}

TEST(AnsMasks, QuadsAreBits) {
  std::mt19937 random(3);
  for (std::uint32_t values = 1; values < 140; ++values) {
    Bytes mask(values), quads(ans::quads_of(values)), back(values);
    for (std::byte& byte : mask) byte = std::byte(random() % 3 * 0x40);
    ans::make_quads(mask.data(), values, quads.data());
    ASSERT_TRUE(ans::spread_quads(quads.data(), values, back.data()));
    for (std::uint32_t at = 0; at < values; ++at) {
      ASSERT_EQ(mask[at] != std::byte{0}, back[at] != std::byte{0}) << at << " of " << values;
    }
    quads.back() |= std::byte{1} << (values % 4 == 0 ? 4 : values % 4);
    EXPECT_FALSE(ans::spread_quads(quads.data(), values, back.data()));
  }
}

// ---- Damage ----

struct Payload {
  Bytes bytes;
  Dtype dtype;
  std::size_t count;

  StatusCode outcome() const { return ans_outcome(bytes, dtype, count, kInPieces); }
  std::uint32_t word(std::size_t at) const { return load<std::uint32_t>(bytes.data() + at); }
  void put(std::size_t at, std::uint32_t word) { store(bytes.data() + at, word); }
};

template <typename Word>
Payload masked(std::size_t count) {
  const Payload payload{payload_of(ans_values<Word>(count, kAnsIslands)), kAnsDtypeOf<Word>, count};
  EXPECT_TRUE(ans::has_mask<Word>(payload.word(0)));
  EXPECT_EQ(payload.outcome(), StatusCode::kOk);
  return payload;
}

void expect_refused(const Payload& payload, const char* rule,
                    const std::function<void(Payload&)>& damage) {
  Payload damaged = payload;
  damage(damaged);
  EXPECT_NE(damaged.bytes, payload.bytes) << rule;
  EXPECT_EQ(damaged.outcome(), StatusCode::kDamaged) << rule;
}

constexpr std::uint32_t kStoredBit = 1u << 15, kKeptBit = 1u << 16, kSparseBit = 1u << 31;

TEST(AnsMasksDamage, HeadsThatCannotBe) {
  const Payload good = masked<std::uint32_t>(601);
  ASSERT_NE(good.word(4) & kSparseBit, 0u);
  const auto refuse = [&](const char* rule, std::uint32_t by, std::uint32_t flips = 0) {
    expect_refused(good, rule, [&](Payload& of) { of.put(4, (of.word(4) + by) ^ flips); });
  };
  for (const std::uint32_t by : {1u, 2u, 4u, 100u}) {
    refuse("a k that the mask belies", by * kKeptBit);
    refuse("a k that the mask belies", 0 - by * kKeptBit);
    refuse("words that there are not", 2 * by);
    refuse("words that are left", 0 - 2 * by);
  }
  refuse("not sparse", 0, kSparseBit);
  refuse("stored, with words", 0, kStoredBit);
  expect_refused(good, "a k without the zeros that a mask must have",
                 [](Payload& of) { of.put(4, (of.word(4) & 0x8000ffff) | 570 * kKeptBit); });
  expect_refused(good, "no mask", [](Payload& of) { of.put(0, of.word(0) ^ 1u << 4); });
}

TEST(AnsMasksDamage, TablesThatCannotBe) {
  const Payload good = masked<std::uint16_t>(600);
  expect_refused(good, "no table",
                 [](Payload& of) { of.bytes.erase(of.bytes.begin() + 8, of.bytes.begin() + 20); });
  expect_refused(good, "all rests",
                 [](Payload& of) { std::fill_n(of.bytes.begin() + 8, 12, std::byte{0xff}); });
  expect_refused(good, "all nothing",
                 [](Payload& of) { std::fill_n(of.bytes.begin() + 8, 12, std::byte{0}); });
  for (std::size_t length = 8; length < 20; ++length) {
    expect_refused(good, "cut short", [&](Payload& of) { of.bytes.resize(length); });
  }
  for (std::size_t bit = 0; bit < 96; ++bit) {
    expect_refused(good, "another table",
                   [&](Payload& of) { of.bytes[8 + bit / 8] ^= std::byte(1 << bit % 8); });
  }
}

// A stored piece of 50 values, of which `kept` are not 0, after its mask.
Payload stored(std::uint32_t kept, const std::vector<std::uint8_t>& quads) {
  constexpr std::size_t kValues = 50;
  Payload payload{Bytes(20), Dtype::kBf16, kValues};
  payload.put(0, 1u << 2);                                    // no plane is coded
  payload.put(4, kSparseBit | kStoredBit | kept * kKeptBit);  // a stored piece with a mask
  payload.put(8, 63);                                         // one quad alone
  for (const std::uint8_t quad : quads) payload.bytes.push_back(std::byte{quad});
  payload.bytes.resize((payload.bytes.size() + 3) / 4 * 4);
  for (int plane = 0; plane < 2; ++plane) {
    payload.bytes.resize(payload.bytes.size() + (kept + 3) / 4 * 4, std::byte{0x35});
  }
  return payload;
}

TEST(AnsMasksDamage, StoredMasksThatCannotBe) {
  std::vector<std::uint8_t> quads(13);
  quads[0] = 15, quads[5] = 2, quads[12] = 2;
  EXPECT_EQ(stored(6, quads).outcome(), StatusCode::kOk);
  for (const std::uint32_t kept : {0u, 1u, 5u, 7u, 49u, 50u, 51u, 0x7fffu}) {
    EXPECT_EQ(stored(kept, quads).outcome(), StatusCode::kDamaged) << kept;
  }
  for (const std::size_t at : {0u, 5u, 12u}) {
    for (int bit = at == 12 ? 2 : 4; bit < 8; ++bit) {
      auto others = quads;
      others[at] = static_cast<std::uint8_t>(others[at] | 1 << bit);
      EXPECT_EQ(stored(6, others).outcome(), StatusCode::kDamaged) << at << " " << bit;
      EXPECT_EQ(stored(7, others).outcome(), StatusCode::kDamaged) << at << " " << bit;
    }
  }
  quads[3] = 1;
  EXPECT_EQ(stored(6, quads).outcome(), StatusCode::kDamaged);
  EXPECT_EQ(stored(7, quads).outcome(), StatusCode::kOk);
}

// A payload of version 1, whose encoder had no masks: 31 values, of which all but one are 0.
TEST(AnsMasks, SparsePiecesOfVersion1AreDecoded) {
  constexpr std::size_t kValues = 31, kAt = 18;
  Bytes payload(52);
  store(payload.data() + 4, kSparseBit | kKeptBit);
  payload[8 + kAt] = std::byte{0xb8};
  payload[40] = std::byte{0xcc}, payload[44] = std::byte{0x60}, payload[48] = std::byte{0x2b};
  std::vector<std::uint32_t> values(kValues), out(kValues, 0x5A);
  values[kAt] = 0xdc663015;
  const Chunk chunk{Dtype::kF32, Shape::line(kValues)};
  auto* const to = reinterpret_cast<std::byte*>(out.data());
  ASSERT_TRUE(kAns.decode(payload, chunk, kInPieces, to).ok());
  EXPECT_EQ(out, values);
  EXPECT_LT(payload_of(values).size(), payload.size());
}

}  // namespace
}  // namespace thinwire::codec::testing
