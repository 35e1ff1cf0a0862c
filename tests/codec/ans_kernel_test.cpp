// The kernels of ans's chunks in pieces, run on the host: their bytes beside those of the CPU.
#include "codec/fake_cuda/fake_cuda.h"
//
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "codec/ans/piece_chunk.cuh"
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
    bytes = Coder<kDtype>::encode(piece, shared->payload, parameter, shared->state);
  });
  EXPECT_TRUE(ends);
  const auto* const payload = reinterpret_cast<const std::byte*>(shared->payload);
  return {payload, payload + std::min(bytes, piece.bytes)};
}

// False if the kernel refuses the payload.
template <Dtype kDtype>
bool decoded_by_kernel(const std::vector<std::byte>& payload, std::uint64_t parameter,
                       std::vector<WordOf<kDtype>>& values) {
  using Word = WordOf<kDtype>;
  auto shared = std::make_unique<Shared<Coder<kDtype>, typename Coder<kDtype>::DecodeState>>();
  std::copy(payload.begin(), payload.end(), reinterpret_cast<std::byte*>(shared->payload));
  const auto target = piece_of<Word>(reinterpret_cast<std::byte*>(values.data()), values.size());
  const cuda::Sink<kDtype, false> sink{};
  unsigned refusals = 0;
  const bool ends = FakeBlock().run(Coder<kDtype>::kThreads, [&] {
    refusals += !Coder<kDtype>::decode(shared->payload, static_cast<std::uint32_t>(payload.size()),
                                       target, parameter, shared->state, sink);
  });
  EXPECT_TRUE(ends);
  EXPECT_TRUE(refusals == 0 || refusals == Coder<kDtype>::kThreads);
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
  constexpr std::size_t kWhole = ans::kCutChunkValues<Word>, kPiece = ans::kPieceValues<Word>;
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
void expect_damage_as_cpu() {
  using Word = WordOf<kDtype>;
  std::mt19937 random(7);
  for (const int kind : {kAnsFew, kAnsGradient, kAnsHoles}) {
    const auto values = ans_values<Word>(ans::kPieceValues<Word> + 100, kind);
    const std::uint64_t parameter = ans::kInPieces | 1;
    const Chunk chunk{kDtype, Shape::line(values.size())};
    const auto sound =
        encoded(kAns, reinterpret_cast<const std::byte*>(values.data()), chunk, parameter);
    for (int round = 0; round < 24; ++round) {
      auto payload = sound;
      const std::size_t within =
          round % 2 == 0 ? std::min<std::size_t>(100, payload.size()) : payload.size();
      payload[random() % within] ^= std::byte{static_cast<std::uint8_t>(1 + random() % 255)};
      if (round % 10 == 9) payload.resize(payload.size() - 1 - random() % 40);
      std::vector<Word> by_cpu(values.size()), by_kernel(values.size());
      const bool is_sound =
          kAns.decode(payload, chunk, parameter, reinterpret_cast<std::byte*>(by_cpu.data())).ok();
      ASSERT_EQ(decoded_by_kernel<kDtype>(payload, parameter, by_kernel), is_sound) << round;
      if (is_sound) {
        ASSERT_TRUE(by_kernel == by_cpu);
      }
    }
  }
}

TEST(AnsKernel, RefusesDamaged16) { expect_damage_as_cpu<Dtype::kBf16>(); }
TEST(AnsKernel, RefusesDamaged32) { expect_damage_as_cpu<Dtype::kF32>(); }

}  // namespace
}  // namespace thinwire::codec::testing
