// Golden vectors of payloads of one chunk: periods that values repeat, and what they become.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "codec/hex.h"

namespace thinwire::codec::testing {

inline Dtype dtype_named(const std::string& name) {
  for (int code = 0; code < kDtypeCount; ++code) {
    if (name == dtype_name(static_cast<Dtype>(code))) return static_cast<Dtype>(code);
  }
  return Dtype::kBytes;
}

// The values of `chunk` repeat `period`; under `parameter` they are `stream`.
inline void expect_golden(const Codec& codec, const Chunk& chunk,
                          const std::vector<std::byte>& period, std::uint64_t parameter,
                          const std::vector<std::byte>& stream) {
  std::vector<std::byte> values(chunk.raw_bytes());
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = period[at % period.size()];
  std::vector<std::byte> encoded(codec.bound(chunk, parameter));
  const auto written = codec.encode(values.data(), chunk, parameter, encoded.data());
  ASSERT_TRUE(written.ok());
  encoded.resize(*written);
  EXPECT_EQ(encoded, stream);
  std::vector<std::byte> decoded(values.size());
  ASSERT_TRUE(codec.decode(stream, chunk, parameter, decoded.data()).ok());
  EXPECT_EQ(decoded, values);
}

// A file of lines "period NAME DTYPE HEX" and "case NAME DTYPE COUNT PARAMETER HEX".
inline void expect_golden_lines(const Codec& codec, const char* path, int least) {
  std::ifstream file(path);
  ASSERT_TRUE(file);
  std::map<std::string, std::vector<std::byte>> periods;
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string what, name, dtype, hex;
    fields >> what >> name >> dtype;
    if (what == "period") {
      fields >> hex;
      periods[name + dtype] = from_hex(hex);
    } else if (what == "case") {
      std::size_t count = 0;
      std::uint64_t parameter = 0;
      fields >> count >> parameter >> hex;
      SCOPED_TRACE(::testing::Message()
                   << name << " " << dtype << ", " << count << " values, parameter " << parameter);
      expect_golden(codec, {dtype_named(dtype), Shape::line(count)}, periods.at(name + dtype),
                    parameter, from_hex(hex));
      ++cases;
    }
  }
  EXPECT_GE(cases, least);
}

}  // namespace thinwire::codec::testing
