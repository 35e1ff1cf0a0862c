// Payloads of version 0 that a decoder of the ans codec refuses: those that are good but for one
// rule of its page.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "codec/ans_outcome.h"
#include "codec/ans_plain.h"
#include "codec/registry.h"
#include "codec/words.h"

namespace thinwire::codec::testing {
namespace {

constexpr std::uint64_t kSparseBit = std::uint64_t{1} << 40;

// `parts` are taken, and refused once `damage` is done to them.
void expect_refused(const AnsParts& parts, Dtype dtype, std::size_t count, const char* rule,
                    const std::function<void(AnsParts&)>& damage) {
  EXPECT_EQ(ans_outcome(parts.payload(), dtype, count), StatusCode::kOk) << rule;
  AnsParts damaged = parts;
  damage(damaged);
  EXPECT_NE(damaged.payload(), parts.payload()) << rule;
  EXPECT_EQ(ans_outcome(damaged.payload(), dtype, count), StatusCode::kDamaged) << rule;
}

// Both planes coded, words and states: 500 values of 16 bits.
std::vector<std::uint16_t> some_values() {
  std::mt19937 random(5);
  std::vector<std::uint16_t> values(500);
  for (auto& value : values) value = static_cast<std::uint16_t>(0x4000 + random() % 9 * 0x102);
  return values;
}

// One value in four is not zero.
std::vector<std::uint16_t> sparse_values() {
  std::vector<std::uint16_t> values(500);
  for (std::size_t at = 0; at < values.size(); at += 4) {
    values[at] = static_cast<std::uint16_t>(0x4000 + at * 31);
  }
  return values;
}

// 512 bytes, one half of them one byte, the other half another: 16 steps.
std::vector<std::uint8_t> two_bytes() {
  std::vector<std::uint8_t> values(512, 0x40);  // 0x80 as a byte of the plane
  for (std::size_t at = 0; at < values.size(); at += 2) values[at] = 0x41;
  return values;
}

TEST(AnsDamage, HeadsThatCannotBe) {
  const AnsParts parts = ans_parts(some_values(), 0);
  ASSERT_EQ(parts.head >> 32, 3u);
  for (int bit = 41; bit < 64; ++bit) {
    expect_refused(parts, Dtype::kBf16, 500, "bits 41 to 63 are 0",
                   [&](AnsParts& of) { of.head |= std::uint64_t{1} << bit; });
  }
  // A plane that there is not, with and without a table.
  for (int plane = 2; plane < 8; ++plane) {
    for (const bool with_table : {false, true}) {
      expect_refused(parts, Dtype::kBf16, 500, "planes that there are not", [&](AnsParts& of) {
        of.head |= std::uint64_t{1} << (32 + plane);
        if (with_table) of.tables.insert(of.tables.end(), {0, 1, 63, 0, 0});
      });
    }
  }
}

TEST(AnsDamage, NumbersOfWordsThatCannotBe) {
  // 500 bytes stored of plane 1: the same length up to 4 bytes more or less.
  const AnsParts dense = ans_parts(some_values(), 0, {.coded = 1});
  for (const std::uint64_t kept : {0u, 497u, 499u, 501u, 65535u}) {
    expect_refused(dense, Dtype::kBf16, 500, "k is n", [&](AnsParts& of) {
      of.head = (of.head & ~std::uint64_t{0xFFFF0000}) | kept << 16;
      of.stored[0].resize(kept);
    });
  }
  const AnsParts sparse = ans_parts(sparse_values(), 0, {.coded = 1});
  ASSERT_EQ(sparse.head & kSparseBit, kSparseBit);
  ASSERT_EQ(sparse.stored[0].size(), 125u);
  for (const std::uint64_t kept : {0u, 124u, 126u, 128u, 499u, 500u, 501u}) {
    expect_refused(sparse, Dtype::kBf16, 500, "k is that of plane 0", [&](AnsParts& of) {
      of.head = (of.head & ~std::uint64_t{0xFFFF0000}) | kept << 16;
      of.stored[0].resize(kept);
    });
  }
  const AnsParts narrow = ans_parts(two_bytes(), 0);
  expect_refused(narrow, Dtype::kE4m3, 512, "k is n, of one byte, too",
                 [](AnsParts& of) { of.head -= std::uint64_t{1} << 16; });
}

TEST(AnsDamage, SparseChunksThatCannotBe) {
  // Every word has a highest byte: sparse or not would mean the same planes.
  expect_refused(ans_parts(some_values(), 0), Dtype::kBf16, 500, "k is below n if sparse",
                 [](AnsParts& of) { of.head |= kSparseBit; });
  std::vector<std::uint8_t> values = two_bytes();
  for (std::size_t at = 0; at < 100; ++at) values[5 * at] = 0;
  expect_refused(ans_parts(values, 0), Dtype::kE4m3, 512, "of one byte none is sparse",
                 [](AnsParts& of) {
                   of.head = (of.head & ~std::uint64_t{0xFFFF0000}) | 412 << 16 | kSparseBit;
                 });
  expect_refused(ans_parts(std::vector<std::uint16_t>(500), 0), Dtype::kBf16, 500,
                 "a coded plane of no bytes", [](AnsParts& of) {
                   of.head |= std::uint64_t{2} << 32;
                   of.tables.insert(of.tables.end(), {0, 1, 63, 0, 0});
                 });
}

// The table of two bytes of one frequency, 128 and 130, begins with 32, 1.
void put_codes(AnsParts& of, std::initializer_list<unsigned> codes) {
  unsigned bits = 0, at = 0;
  for (const unsigned code : codes) bits |= code << 6 * at++;
  for (unsigned part = 0; part < 3; ++part) {
    of.tables[2 + part] = static_cast<std::uint8_t>(bits >> 8 * part);
  }
}

TEST(AnsDamage, TablesThatCannotBe) {
  const AnsParts parts = ans_parts(two_bytes(), 0);
  ASSERT_EQ(parts.tables.size(), 5u);
  ASSERT_EQ(parts.tables[0], 32u);
  AnsParts same = parts;
  put_codes(same, {63, 0, 36, 0});
  ASSERT_EQ(same.tables, parts.tables);
  const auto refuse = [&](const char* rule, std::initializer_list<unsigned> codes) {
    expect_refused(parts, Dtype::kE4m3, 512, rule, [&](AnsParts& of) { put_codes(of, codes); });
  };
  refuse("no rest, though the sum is 2048", {36, 0, 36, 0});
  refuse("no rest", {35, 0, 36, 0});
  refuse("two rests", {63, 0, 63, 0});
  refuse("a rest of 0", {63, 0, 36, 36});
  refuse("a rest of 0, by one", {63, 0, 40, 0});
  refuse("a rest below 0", {63, 1, 36, 36});
  refuse("far below 0", {63, 40, 40, 40});
  for (unsigned code = 41; code < 63; ++code) {
    refuse("codes that mean nothing", {63, 0, 36, code});
    refuse("codes that mean nothing", {63, 0, code, 0});
  }
  AnsParts wide = parts;  // not the least, but good
  wide.tables = {31, 3, 0, 0, 0, parts.tables[2], parts.tables[3], parts.tables[4], 0, 0, 0};
  EXPECT_EQ(ans_outcome(wide.payload(), Dtype::kE4m3, 512), StatusCode::kOk);
}

TEST(AnsDamage, GroupsThatCannotBe) {
  // The byte 255 alone, in the last group.
  const AnsParts parts = ans_parts(std::vector<std::uint8_t>(512, 0xFF), 0);
  ASSERT_EQ(parts.tables, (AnsPlane{63, 1, 0, 0, 0xFC}));
  const auto refuse = [&](const char* rule, AnsPlane table) {
    expect_refused(parts, Dtype::kE4m3, 512, rule, [&](AnsParts& of) { of.tables = table; });
  };
  refuse("groups behind the last", {63, 2, 0, 0, 0xFC, 0, 0, 0});
  refuse("groups behind the last", {62, 3, 0, 0, 0, 0, 0, 0xFC, 0, 0, 0});
  refuse("no group", {63, 0});
  refuse("no group", {63, 0, 0, 0, 0xFC});
  refuse("a first one of 64", {64, 1, 0, 0, 0xFC});
  refuse("a first one of 64 without groups", {64, 0, 0, 0, 0xFC});
  refuse("a first one of 255", {255, 1, 0, 0, 0xFC});
  AnsPlane all(2 + 3 * 255);
  all[0] = 0, all[1] = 255, all[2] = 63;
  refuse("255 groups", all);
}

TEST(AnsDamage, StatesThatCannotBe) {
  const auto values = two_bytes();
  // The encoder's arithmetic, but for when words are given away: decoding it ends well.
  const AnsParts large = ans_parts(values, 0, {.gives_never = true});
  ASSERT_GE(*std::min_element(large.states.begin(), large.states.end()), 1u << 31);
  EXPECT_EQ(ans_outcome(large.payload(), Dtype::kE4m3, 512), StatusCode::kDamaged);
  const std::vector<std::uint8_t> once(values.begin(), values.begin() + 32);
  const AnsParts small = ans_parts(once, 0, {.coded = 1, .gives_at_once = true});
  ASSERT_LT(*std::max_element(small.states.begin(), small.states.end()), kAnsLeast);
  ASSERT_EQ(small.words.size(), 32u);
  EXPECT_EQ(ans_outcome(small.payload(), Dtype::kE4m3, 32), StatusCode::kDamaged);
  EXPECT_EQ(ans_outcome(ans_parts(once, 0, {.coded = 1}).payload(), Dtype::kE4m3, 32),
            StatusCode::kOk);
  // A lane without bytes.
  const std::vector<std::uint8_t> short_one(values.begin(), values.begin() + 31);
  const AnsParts idle = ans_parts(short_one, 0, {.coded = 1});
  for (const std::uint32_t state : {0u, kAnsLeast - 1, kAnsLeast + 1, 0x7FFFFFFFu, 0x80008000u}) {
    expect_refused(idle, Dtype::kE4m3, 31, "a state that is not 2^15 at the end",
                   [&](AnsParts& of) { of.states[31] = state; });
  }
}

TEST(AnsDamage, EndsThatCannotBe) {
  const auto values = some_values();
  const AnsParts good = ans_parts(values, 0);
  ASSERT_GT(good.words.size(), 40u);
  for (const std::uint32_t state : {kAnsLeast + 1, kAnsLeast + 77}) {
    const AnsParts other = ans_parts(values, 0, {.state = state});
    EXPECT_EQ(ans_outcome(other.payload(), Dtype::kBf16, 500), StatusCode::kDamaged) << state;
  }
  expect_refused(good, Dtype::kBf16, 500, "words left over", [](AnsParts& of) {
    of.words.insert(of.words.begin(), 0);
    ++of.head;
  });
  expect_refused(good, Dtype::kBf16, 500, "words that run out", [](AnsParts& of) {
    of.words.erase(of.words.begin());
    --of.head;
  });
  expect_refused(good, Dtype::kBf16, 500, "no words", [](AnsParts& of) {
    of.head -= of.words.size();
    of.words.clear();
  });
  const AnsParts constant = ans_parts(std::vector<std::uint16_t>(500, 0x1234), 0);
  expect_refused(constant, Dtype::kBf16, 500, "words without states", [](AnsParts& of) {
    of.words.push_back(0);
    ++of.head;
  });
  expect_refused(constant, Dtype::kBf16, 500, "states of none",
                 [](AnsParts& of) { of.states.assign(32, kAnsLeast); });
  expect_refused(constant, Dtype::kBf16, 500, "an r that the length belies",
                 [](AnsParts& of) { ++of.head; });
}

template <typename Word>
void expect_lengths_refused(Dtype dtype, const std::vector<Word>& values) {
  const Bytes payload = ans_parts(values, 1).payload();
  EXPECT_EQ(ans_outcome(payload, dtype, values.size(), 1), StatusCode::kOk);
  for (std::size_t length = 0; length < payload.size() + 140; ++length) {
    if (length == payload.size()) continue;
    Bytes other = payload;
    other.resize(length);
    EXPECT_EQ(ans_outcome(other, dtype, values.size(), 1), StatusCode::kDamaged) << length;
  }
}

TEST(AnsDamage, WrongLengths) {
  expect_lengths_refused(Dtype::kE5m2, two_bytes());
  expect_lengths_refused(Dtype::kBf16, some_values());
  expect_lengths_refused(Dtype::kF16, sparse_values());
  expect_lengths_refused(Dtype::kF32, field<std::uint32_t>(200, kSmooth));
  expect_lengths_refused(Dtype::kF64, field<std::uint64_t>(100, kSparse));
  expect_lengths_refused(Dtype::kF64, std::vector<std::uint64_t>(100));
}

// A reader or writer outside of its memory would be found by the sanitizers.
template <typename Word>
void expect_safe(Dtype dtype, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  for (int kind = 0; kind < kKinds; ++kind) {
    const Bytes payload = ans_parts(field<Word>(count, kind), 0).payload();
    for (int turn = 0; turn < 1500; ++turn) {
      Bytes changed = payload;
      // Half of them in the head and the tables.
      const std::size_t span =
          turn % 2 == 0 ? std::min<std::size_t>(64, payload.size()) : payload.size();
      for (unsigned flips = 1 + random() % 3; flips > 0; --flips) {
        changed[random() % span] ^= static_cast<std::byte>(1u << random() % 8);
      }
      const StatusCode code = ans_outcome(changed, dtype, count);
      EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kDamaged);
    }
  }
}

TEST(AnsDamage, FlippedBitsAreSafe) {
  expect_safe<std::uint16_t>(Dtype::kBf16, 1001);
  expect_safe<std::uint32_t>(Dtype::kF32, 300);
  expect_safe<std::uint64_t>(Dtype::kF64, 333);
  expect_safe<std::uint8_t>(Dtype::kE4m3, 700);
}

}  // namespace
}  // namespace thinwire::codec::testing
