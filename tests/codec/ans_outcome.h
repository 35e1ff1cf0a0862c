// How a decoder of the ans codec ends.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "codec/registry.h"

namespace thinwire::codec::testing {

using Bytes = std::vector<std::byte>;

// The code of decoding, with nothing written around the values.
inline StatusCode ans_outcome(const Bytes& payload, Dtype dtype, std::size_t count,
                              std::uint64_t parameter = 0) {
  const Chunk chunk{dtype, Shape::line(count)};
  const Bytes exact(payload);
  constexpr std::size_t kMargin = 64;
  Bytes out(chunk.raw_bytes() + 2 * kMargin, std::byte{0xC5});
  const StatusCode code = kAns.decode(exact, chunk, parameter, out.data() + kMargin).code();
  for (std::size_t at = 0; at < kMargin; ++at) {
    EXPECT_EQ(out[at], std::byte{0xC5}) << "written before the values";
    EXPECT_EQ(out[out.size() - 1 - at], std::byte{0xC5}) << "written after the values";
  }
  return code;
}

}  // namespace thinwire::codec::testing
