// Chunks of ans in pieces: round trips, and refusals.
#include "codec/registry.h"

#include <gtest/gtest.h>

#include <vector>

#include "codec/ans/pieces.h"
#include "codec/ans_values.h"
#include "codec/words.h"

namespace thinwire::codec::testing {
namespace {

template <typename Word>
void expect_round_trip(const std::vector<Word>& values, std::uint64_t tuple) {
  const Chunk chunk{kAnsDtypeOf<Word>, Shape::line(values.size())};
  const std::uint64_t parameter = ans::kInPieces | tuple;
  const auto payload =
      encoded(kAns, reinterpret_cast<const std::byte*>(values.data()), chunk, parameter);
  if (payload.size() >= chunk.raw_bytes()) return;
  const std::vector<std::byte> exact(payload);
  std::vector<Word> out(values.size(), static_cast<Word>(0x5A));
  const Status status =
      kAns.decode(exact, chunk, parameter, reinterpret_cast<std::byte*>(out.data()));
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(out, values);
}

template <typename Word>
void expect_round_trips() {
  constexpr std::size_t kWhole = ans::kChunkValues<Word>, kPiece = ans::kPieceValues<Word>;
  for (int kind = 0; kind < kAnsKinds; ++kind) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{127}, std::size_t{128}, std::size_t{1000}, kPiece, kPiece + 1,
          2 * kPiece - 5, kWhole - 128, kWhole - 1, kWhole}) {
      for (const std::uint64_t tuple : {0, 1, 2, 3, 5, 32}) {
        SCOPED_TRACE("kind " + std::to_string(kind) + " count " + std::to_string(count) +
                     " tuple " + std::to_string(tuple));
        expect_round_trip(ans_values<Word>(count, kind), tuple);
      }
    }
  }
}

TEST(AnsPieces, RoundTrips8) { expect_round_trips<std::uint8_t>(); }
TEST(AnsPieces, RoundTrips16) { expect_round_trips<std::uint16_t>(); }
TEST(AnsPieces, RoundTrips32) { expect_round_trips<std::uint32_t>(); }
TEST(AnsPieces, RoundTrips64) { expect_round_trips<std::uint64_t>(); }

}  // namespace
}  // namespace thinwire::codec::testing
