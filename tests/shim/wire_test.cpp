// The lengths of compressed messages: what a probe must recognise, and what it must let pass.
#include "shim/mpi/message/length.h"

#include <gtest/gtest.h>

namespace thinwire::mpi {
namespace {

constexpr std::uint64_t kRawSizes[] = {76,    100,   4095,  4096,    4097,         40000,
                                       65535, 65536, 65537, 1 << 20, (1 << 20) + 4};

TEST(WireLength, HoldsTheFrameAndTheShortestReceive) {
  for (const std::uint64_t raw : kRawSizes) {
    for (std::uint64_t frame = 1; frame < 9000; frame += 7) {
      for (const std::uint64_t shortest : {0, 19, 1024, 16384}) {
        const std::uint64_t length = wire_length(frame, raw, shortest);
        ASSERT_GE(length, frame);
        ASSERT_GE(length, shortest);
      }
    }
  }
}

TEST(WireLength, WastesLessThanOneModulus) {
  for (const std::uint64_t raw : kRawSizes) {
    for (std::uint64_t frame = 1; frame < 9000; ++frame) {
      ASSERT_LT(wire_length(frame, raw, 0) - frame, length_modulus(raw)) << frame << " of " << raw;
    }
  }
}

// The receiver knows the wire length only: it must suspect whatever the raw size made of it.
TEST(WireLength, IsSuspiciousWheneverItIsShorterThanTheMessage) {
  for (std::uint64_t raw = 76; raw < 80000; raw += 41) {
    for (std::uint64_t frame = 65; frame < raw; frame += 1 + raw / 50) {
      const std::uint64_t length = wire_length(frame, raw, 19);
      if (length >= raw) continue;  // goes raw
      ASSERT_TRUE(is_suspicious(length)) << length << " for " << raw;
    }
  }
}

// The shortest length comes from another rank's capabilities, which may say anything.
TEST(WireLength, NeverFallsBelowAShortestNearTheEndOfItsRange) {
  for (std::uint64_t below = 0; below < 9000; ++below) {
    const std::uint64_t shortest = UINT64_MAX - below;
    for (const std::uint64_t raw : kRawSizes) {
      ASSERT_GE(wire_length(100, raw, shortest), shortest) << raw;
    }
  }
}

TEST(WireLength, AFrameOfTheTestCodecTravelsIn73Bytes) { EXPECT_EQ(wire_length(72, 76, 19), 73u); }

TEST(IsSuspicious, NeverAMessageOfWholeFloats) {
  for (std::uint64_t bytes = 0; bytes < (1 << 20); bytes += 4) ASSERT_FALSE(is_suspicious(bytes));
}

TEST(IsSuspicious, FewByteMessages) {
  std::uint64_t suspicious = 0;
  for (std::uint64_t bytes = 65536; bytes < (1 << 20); ++bytes) suspicious += is_suspicious(bytes);
  EXPECT_EQ(suspicious, ((1u << 20) - 65536) / 4096);
  EXPECT_FALSE(is_suspicious(0));
  EXPECT_FALSE(is_suspicious(1));
}

TEST(LengthModulus, EachDividesTheNext) {
  EXPECT_EQ(length_modulus(4096) % length_modulus(4095), 0u);
  EXPECT_EQ(length_modulus(65536) % length_modulus(65535), 0u);
}

}  // namespace
}  // namespace thinwire::mpi
