// Payloads of chunks in pieces that a decoder of the ans codec refuses: those that are good but for
// one rule of its page, those of other lengths, and those with bits flipped.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "codec/ans/pieces.h"
#include "codec/ans_outcome.h"
#include "codec/ans_values.h"
#include "codec/words.h"

namespace thinwire::codec::testing {
namespace {

using ans::kInPieces;
using ans::kPieceValues;

// A payload, and where its parts are.
struct Payload {
  Bytes bytes;
  Dtype dtype;
  std::size_t count;
  std::uint64_t tuple;

  StatusCode outcome() const { return ans_outcome(bytes, dtype, count, kInPieces | tuple); }

  std::uint32_t word(std::size_t at) const { return load<std::uint32_t>(bytes.data() + at); }
  void put(std::size_t at, std::uint32_t word) { store(bytes.data() + at, word); }
  std::uint32_t head(std::size_t piece) const { return word(4 + 4 * piece); }
  void put_head(std::size_t piece, std::uint32_t head) { put(4 + 4 * piece, head); }
  void insert(std::size_t at, std::size_t zeros) {
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), zeros, std::byte{0});
  }
  // A head's words last 2 bytes each, before them what fills them up.
  std::size_t pieces() const {
    return ans::pieces_of(static_cast<std::uint32_t>(count),
                          static_cast<std::uint32_t>(8192 / dtype_size(dtype)));
  }
};

template <typename Word>
Payload payload_of(const std::vector<Word>& values, std::uint64_t tuple) {
  const Chunk chunk{kAnsDtypeOf<Word>, Shape::line(values.size())};
  const auto* const from = reinterpret_cast<const std::byte*>(values.data());
  Payload payload{encoded(kAns, from, chunk, kInPieces | tuple), chunk.dtype, values.size(), tuple};
  EXPECT_LT(payload.bytes.size(), chunk.raw_bytes());
  return payload;
}

// `payload` is taken, and refused after `damage` is done to it.
void expect_refused(const Payload& payload, const char* rule,
                    const std::function<void(Payload&)>& damage) {
  EXPECT_EQ(payload.outcome(), StatusCode::kOk) << rule;
  Payload damaged = payload;
  damage(damaged);
  EXPECT_NE(damaged.bytes, payload.bytes) << rule;
  EXPECT_EQ(damaged.outcome(), StatusCode::kDamaged) << rule;
}

constexpr std::uint32_t kStoredBit = 1u << 15, kKeptBit = 1u << 16, kSparseBit = 1u << 31;

// Both planes coded, in two pieces: of 16 bits.
Payload two_pieces() {
  std::mt19937 random(5);
  std::vector<std::uint16_t> values(kPieceValues<std::uint16_t> + 500);
  for (auto& value : values) value = static_cast<std::uint16_t>(0x4000 + random() % 9 * 0x102);
  return payload_of(values, 0);
}

// Three values of four are 0.
Payload sparse() { return payload_of(ans_values<std::uint16_t>(600, kAnsHoles), 0); }

// Returns where the states of the last piece are: words end the payload.
std::size_t states_at(const Payload& payload) {
  const std::uint32_t words = payload.head(payload.pieces() - 1) & 0x7fff;
  return payload.bytes.size() - ans::filled(2 * words) - ans::kStateBytes;
}

TEST(AnsPiecesDamage, PlanesThatThereAreNot) {
  for (int bit = 2; bit < 32; ++bit) {
    for (const bool with_table : {false, true}) {
      expect_refused(two_pieces(), "planes that there are not", [&](Payload& of) {
        of.put(0, of.word(0) | 1u << bit);
        if (with_table) of.insert(of.bytes.size(), 8);
      });
    }
  }
}

TEST(AnsPiecesDamage, HeadsThatCannotBe) {
  const Payload dense = two_pieces();
  ASSERT_EQ(dense.word(0), 3u);
  for (std::size_t piece = 0; piece < 2; ++piece) {
    const auto refuse = [&](const char* rule,
                            const std::function<std::uint32_t(std::uint32_t)>& change) {
      expect_refused(dense, rule, [&](Payload& of) { of.put_head(piece, change(of.head(piece))); });
    };
    refuse("words without room", [](std::uint32_t head) { return head | 0x7fff; });
    refuse("all ones", [](std::uint32_t) { return ~0u; });
    refuse("nothing", [](std::uint32_t) { return 0u; });
    refuse("two words more", [](std::uint32_t head) { return head + 2; });
    refuse("two words less", [](std::uint32_t head) { return head - 2; });
    refuse("a word more or less", [](std::uint32_t head) { return head ^ 1; });
    refuse("no words", [](std::uint32_t head) { return head & ~0x7fffu; });
    refuse("stored, with words", [](std::uint32_t head) { return head | kStoredBit; });
    refuse("k above v", [](std::uint32_t head) { return head + kKeptBit; });
    refuse("k below v", [](std::uint32_t head) { return head - kKeptBit; });
    refuse("k is v, but sparse", [](std::uint32_t head) { return head | kSparseBit; });
    refuse("sparse with less", [](std::uint32_t head) { return (head - kKeptBit) | kSparseBit; });
  }
  const Payload holes = sparse();
  ASSERT_NE(holes.head(0) & kSparseBit, 0u);
  for (const std::uint32_t by : {kKeptBit, 4 * kKeptBit, 0u - kKeptBit, 0u - 4 * kKeptBit}) {
    expect_refused(holes, "a k that plane 0 belies",
                   [&](Payload& of) { of.put_head(0, of.head(0) + by); });
  }
  const Payload narrow = payload_of(ans_values<std::uint8_t>(600, kAnsFew), 0);
  expect_refused(narrow, "sparse values of one byte",
                 [](Payload& of) { of.put_head(0, (of.head(0) - kKeptBit) | kSparseBit); });
  const Payload constant = payload_of(std::vector<std::uint16_t>(500, 0x1234), 0);
  expect_refused(constant, "stored without a mixed plane",
                 [](Payload& of) { of.put_head(0, of.head(0) | kStoredBit); });
  expect_refused(constant, "words without a mixed plane", [](Payload& of) {
    of.put_head(0, of.head(0) + 2);
    of.insert(of.bytes.size(), 4);
  });
}

// Heads that move the border between two pieces, and leave the length of both together.
TEST(AnsPiecesDamage, PiecesThatOverlap) {
  for (const std::uint32_t by : {2u, 4u, 100u, 0u - 2, 0u - 100}) {
    expect_refused(two_pieces(), "words of another piece", [&](Payload& of) {
      of.put_head(0, of.head(0) + by);
      of.put_head(1, of.head(1) - by);
    });
  }
}

TEST(AnsPiecesDamage, TablesThatCannotBe) {
  // A table's first byte, groups, and codes of 6 bits, from byte 12 on.
  const Payload good = two_pieces();
  const auto refuse = [&](const char* rule, std::size_t at, std::byte byte) {
    expect_refused(good, rule, [&](Payload& of) { of.bytes[at] = byte; });
  };
  for (int byte = 0; byte < 256; ++byte) {
    if (std::byte(byte) != good.bytes[13]) refuse("groups", 13, std::byte(byte));
  }
  for (int byte = 64; byte < 256; ++byte) refuse("a first one past 63", 12, std::byte(byte));
  refuse("two rests, or none", 14, good.bytes[14] ^ std::byte{0x3f});
  int refused = 0;
  for (std::size_t at = 14; at < 17; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Payload of = good;
      of.bytes[at] ^= std::byte(1 << bit);
      refused += of.outcome() == StatusCode::kDamaged;
    }
  }
  EXPECT_GT(refused, 20);  // sums, or words that are none under other frequencies
}

TEST(AnsPiecesDamage, StatesThatCannotBe) {
  for (const Payload& good : {two_pieces(), sparse()}) {
    for (std::size_t lane : {0u, 7u, 31u}) {
      for (const std::uint32_t state : {0u, (1u << 15) - 1, 1u << 31, ~0u}) {
        expect_refused(good, "a state out of its range",
                       [&](Payload& of) { of.put(states_at(of) + 4 * lane, state); });
      }
    }
  }
}

// States with a bit flipped are rarely those of other bytes that end as they must.
TEST(AnsPiecesDamage, EndsThatCannotBe) {
  const Payload good = two_pieces();
  int refused = 0;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (int bit = 0; bit < 31; ++bit) {
      Payload of = good;
      const std::size_t at = states_at(of) + 4 * lane;
      of.put(at, of.word(at) ^ 1u << bit);
      refused += of.outcome() == StatusCode::kDamaged;
    }
  }
  EXPECT_GT(refused, 31 * 32 * 3 / 4);
}

// Every length but its own.
template <typename Word>
void expect_lengths_refused(std::size_t count, int kind, std::uint64_t tuple) {
  const Payload good = payload_of(ans_values<Word>(count, kind), tuple);
  EXPECT_EQ(good.outcome(), StatusCode::kOk);
  const std::size_t size = good.bytes.size();
  for (std::size_t length = 0; length < size + 70; ++length) {
    if (length == size) continue;
    Payload other = good;
    other.bytes.resize(length);
    EXPECT_EQ(other.outcome(), StatusCode::kDamaged) << length;
  }
}

TEST(AnsPiecesDamage, OtherLengths) {
  expect_lengths_refused<std::uint8_t>(600, kAnsFew, 1);
  expect_lengths_refused<std::uint16_t>(kPieceValues<std::uint16_t> + 128, kAnsGradient, 0);
  expect_lengths_refused<std::uint16_t>(600, kAnsHoles, 0);
  expect_lengths_refused<std::uint32_t>(kPieceValues<std::uint32_t> + 50, kAnsHalf, 0);
  expect_lengths_refused<std::uint64_t>(kPieceValues<std::uint64_t> + 7, kSmooth, 3);
  expect_lengths_refused<std::uint64_t>(100, kZero, 1);
}

// Each bit flipped, and bytes of anything: an error or other values, and nothing outside of
// memory, for which sanitizers watch.
template <typename Word>
void expect_safe(std::size_t count, std::uint64_t tuple) {
  std::mt19937 random(static_cast<unsigned>(count));
  for (const int kind : {kAnsFew, kAnsGradient, kAnsHoles, kAnsHalf}) {
    if (sizeof(Word) == 1 && kind != kAnsFew) continue;
    const Payload good = payload_of(ans_values<Word>(count, kind), tuple);
    int refused = 0, turns = 0;
    const auto decode = [&](const Payload& changed) {
      const StatusCode code = changed.outcome();
      EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kDamaged);
      refused += code == StatusCode::kDamaged;
      ++turns;
    };
    for (std::size_t bit = 0; bit < 8 * good.bytes.size(); ++bit) {
      Payload changed = good;
      changed.bytes[bit / 8] ^= std::byte(1 << bit % 8);
      decode(changed);
    }
    for (int turn = 0; turn < 1000; ++turn) {
      Payload changed = good;
      const std::size_t first = random() % changed.bytes.size();
      const std::size_t end = std::min<std::size_t>(changed.bytes.size(), first + random() % 40);
      for (std::size_t at = first; at < end; ++at) changed.bytes[at] = std::byte(random() % 256);
      decode(changed);
    }
    EXPECT_GT(refused, turns / 20) << kind;
  }
}

TEST(AnsPiecesDamage, FlippedBitsAreSafe) {
  expect_safe<std::uint8_t>(700, 0);
  expect_safe<std::uint16_t>(600, 0);
  expect_safe<std::uint32_t>(384, 0);
  expect_safe<std::uint64_t>(256, 0);
  expect_safe<std::uint16_t>(1024, 5);
}

}  // namespace
}  // namespace thinwire::codec::testing
