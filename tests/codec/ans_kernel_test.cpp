// The kernels of ans, run on the host: their bytes beside those of the CPU.
#include "codec/fake_cuda/fake_cuda.h"
//
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "codec/ans/decode.cuh"
#include "codec/ans/encode.cuh"
#include "codec/ans/v0_chunk.cuh"
#include "codec/ans_plain.h"
#include "codec/ans_values.h"
#include "codec/registry.h"
#include "codec/words.h"

namespace thinwire::codec::testing {
namespace {

using thinwire::testing::FakeBlock;

template <Dtype kDtype>
using Coder = ans::PieceCoder<kDtype>;

// The shared memory of a thread block, and bytes after it that nobody may change.
template <typename Coder, typename State>
struct Shared {
  alignas(16) std::uint64_t payload[Coder::kPayloadBytes / 8];
  State state;
};

template <typename Word, typename Bytes>
cuda::PieceOf<Bytes> piece_of(Bytes* at, std::size_t count) {
  const auto values = static_cast<std::uint32_t>(count);
  return {.at = at,
          .box = {.offset = 0, .row = count, .plane = count, .x = values, .y = 1, .z = 1},
          .values = values,
          .bytes = values * static_cast<std::uint32_t>(sizeof(Word))};
}

template <Dtype kDtype>
std::vector<std::byte> encoded_by_kernel(const std::vector<WordOf<kDtype>>& values,
                                         std::uint64_t parameter) {
  using Word = WordOf<kDtype>;
  auto shared = std::make_unique<Shared<Coder<kDtype>, typename Coder<kDtype>::State>>();
  const auto piece =
      piece_of<Word>(reinterpret_cast<const std::byte*>(values.data()), values.size());
  std::uint32_t bytes = 0;
  const bool ends = FakeBlock().run(Coder<kDtype>::kThreads, [&] {
    const auto prepared = Coder<kDtype>::prepare(piece, parameter, shared->state);
    bytes = Coder<kDtype>::encode(piece, prepared, shared->payload, parameter, shared->state);
  });
  EXPECT_TRUE(ends);
  const auto* const payload = reinterpret_cast<const std::byte*>(shared->payload);
  return {payload, payload + std::min(bytes, piece.bytes)};
}

// The coder of the version that a parameter is of.
template <Dtype kDtype, typename Use>
void with_coder(std::uint64_t parameter, Use&& use) {
  if ((parameter & ans::kInPieces) != 0) {
    use.template operator()<Coder<kDtype>>();
  } else {
    use.template operator()<ans::v0::ChunkCoder<kDtype>>();
  }
}

// False if the kernel refuses the payload.
template <Dtype kDtype>
bool decoded_by_kernel(const std::vector<std::byte>& payload, std::uint64_t parameter,
                       std::vector<WordOf<kDtype>>& values) {
  using Word = WordOf<kDtype>;
  const auto target = piece_of<Word>(reinterpret_cast<std::byte*>(values.data()), values.size());
  const cuda::Sink<kDtype, false> sink{};
  unsigned refusals = 0, threads = 0;
  with_coder<kDtype>(parameter, [&]<typename Own>() {
    auto shared = std::make_unique<Shared<Own, typename Own::DecodeState>>();
    std::copy(payload.begin(), payload.end(), reinterpret_cast<std::byte*>(shared->payload));
    threads = Own::kThreads;
    const bool ends = FakeBlock().run(Own::kThreads, [&] {
      refusals += !Own::decode(shared->payload, static_cast<std::uint32_t>(payload.size()), target,
                               parameter, shared->state, sink);
    });
    EXPECT_TRUE(ends);
  });
  EXPECT_TRUE(refusals == 0 || refusals == threads);
  return refusals == 0;
}

template <Dtype kDtype>
void expect_as_cpu(const std::vector<WordOf<kDtype>>& values, std::uint64_t tuple) {
  using Word = WordOf<kDtype>;
  const std::uint64_t parameter = ans::kInPieces | tuple;
  const Chunk chunk{kDtype, Shape::line(values.size())};
  const auto expected =
      encoded(kAns, reinterpret_cast<const std::byte*>(values.data()), chunk, parameter);
  const auto found = encoded_by_kernel<kDtype>(values, parameter);
  ASSERT_EQ(found.size(), expected.size());
  if (expected.size() == chunk.raw_bytes()) return;
  ASSERT_TRUE(found == expected);
  std::vector<Word> out(values.size(), static_cast<Word>(0x5A));
  ASSERT_TRUE(decoded_by_kernel<kDtype>(expected, parameter, out));
  ASSERT_TRUE(out == values);
}

template <Dtype kDtype>
void expect_all_as_cpu() {
  using Word = WordOf<kDtype>;
  constexpr std::size_t kWhole = ans::kChunkValues<Word>, kPiece = ans::kPieceValues<Word>;
  for (int kind = 0; kind < kAnsKinds; ++kind) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{300}, kPiece + 129, kWhole}) {
      for (const std::uint64_t tuple : {0, 1, 3}) {
        // A fake block is slow.
        if (count == kWhole && (tuple == 3 || kind < kAnsGradient)) continue;
        if (count == kWhole && tuple != (kind == kAnsGradient ? 1u : 0u)) continue;
        if (count > kPiece && count < kWhole && tuple != 3) continue;
        if (count > kPiece && tuple == 3 && kind != kAnsHoles && kind != kAnsHalf) continue;
        SCOPED_TRACE("kind " + std::to_string(kind) + " count " + std::to_string(count) +
                     " tuple " + std::to_string(tuple));
        expect_as_cpu<kDtype>(ans_values<Word>(count, kind), tuple);
      }
    }
  }
}

TEST(AnsKernel, Codes8As) { expect_all_as_cpu<Dtype::kE4m3>(); }
TEST(AnsKernel, Codes16As) { expect_all_as_cpu<Dtype::kBf16>(); }
TEST(AnsKernel, Codes32As) { expect_all_as_cpu<Dtype::kF32>(); }
TEST(AnsKernel, Codes64As) { expect_all_as_cpu<Dtype::kF64>(); }

// A kernel refuses what the CPU refuses, and decodes to the same values otherwise.
template <Dtype kDtype>
void expect_damage_as_cpu(const std::vector<std::byte>& sound, std::size_t count,
                          std::uint64_t parameter, int rounds) {
  using Word = WordOf<kDtype>;
  std::mt19937 random(7);
  const Chunk chunk{kDtype, Shape::line(count)};
  for (int round = 0; round < rounds; ++round) {
    auto payload = sound;
    const std::size_t within =
        round % 2 == 0 ? std::min<std::size_t>(100, payload.size()) : payload.size();
    if (round > 0) {
      payload[random() % within] ^= std::byte{static_cast<std::uint8_t>(1 + random() % 255)};
    }
    if (round % 10 == 9) payload.resize(payload.size() - 1 - random() % 40);
    std::vector<Word> by_cpu(count), by_kernel(count);
    const bool is_sound =
        kAns.decode(payload, chunk, parameter, reinterpret_cast<std::byte*>(by_cpu.data())).ok();
    ASSERT_TRUE(is_sound || round > 0);
    ASSERT_EQ(decoded_by_kernel<kDtype>(payload, parameter, by_kernel), is_sound) << round;
    if (is_sound) {
      ASSERT_TRUE(by_kernel == by_cpu);
    }
  }
}

template <Dtype kDtype>
void expect_damage_as_cpu() {
  using Word = WordOf<kDtype>;
  for (const int kind : {kAnsFew, kAnsGradient, kAnsHoles}) {
    const auto values = ans_values<Word>(ans::kPieceValues<Word> + 100, kind);
    const std::uint64_t parameter = ans::kInPieces | 1;
    const Chunk chunk{kDtype, Shape::line(values.size())};
    const auto sound =
        encoded(kAns, reinterpret_cast<const std::byte*>(values.data()), chunk, parameter);
    expect_damage_as_cpu<kDtype>(sound, values.size(), parameter, 24);
  }
}

TEST(AnsKernel, RefusesDamaged16) { expect_damage_as_cpu<Dtype::kBf16>(); }
TEST(AnsKernel, RefusesDamaged32) { expect_damage_as_cpu<Dtype::kF32>(); }

// Payloads of version 0, by a plain reading of its page.
template <Dtype kDtype>
void expect_older_as_cpu() {
  using Word = WordOf<kDtype>;
  for (const int kind : {int{kSmooth}, int{kZero}, kAnsFew, kAnsHoles}) {
    for (const std::uint64_t tuple : {1, 3}) {
      SCOPED_TRACE("kind " + std::to_string(kind) + " tuple " + std::to_string(tuple));
      const auto values = ans_values<Word>(500, kind);
      const auto sound = ans_parts(values, tuple).payload();
      if (sound.size() >= 500 * sizeof(Word)) continue;
      expect_damage_as_cpu<kDtype>(sound, values.size(), tuple, 3);
    }
  }
}

TEST(AnsKernel, DecodesOlder8) { expect_older_as_cpu<Dtype::kE4m3>(); }
TEST(AnsKernel, DecodesOlder16) { expect_older_as_cpu<Dtype::kBf16>(); }
TEST(AnsKernel, DecodesOlder32) { expect_older_as_cpu<Dtype::kF32>(); }
TEST(AnsKernel, DecodesOlder64) { expect_older_as_cpu<Dtype::kF64>(); }

}  // namespace
}  // namespace thinwire::codec::testing
