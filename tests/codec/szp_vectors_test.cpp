// The golden vectors of tests/vectors/szp.txt, made by tools/make_vectors/szp.py from the page.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "codec/codecs.h"
#include "codec/hex.h"

namespace thinwire::codec::testing {
namespace {

std::uint64_t fnv1a(const std::vector<std::byte>& bytes) {
  std::uint64_t value = 0xCBF29CE484222325u;
  for (const std::byte byte : bytes) {
    value = (value ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3u;
  }
  return value;
}

std::vector<std::byte> repeated(const std::vector<std::byte>& period, const Chunk& chunk) {
  std::vector<std::byte> values(chunk.raw_bytes());
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = period[at % period.size()];
  return values;
}

// What decoding gives; the values themselves where the payload is to be "raw".
std::vector<std::byte> check_payload(const std::vector<std::byte>& values, const Chunk& chunk,
                                     const std::string& bound, const std::string& payload) {
  const auto parameter = load<std::uint64_t>(from_hex(bound).data());
  std::vector<std::byte> encoded(kSzp.bound(chunk, parameter));
  const auto written = kSzp.encode(values.data(), chunk, parameter, encoded.data());
  EXPECT_TRUE(written.ok());
  if (payload == "raw") {
    EXPECT_GE(*written, chunk.raw_bytes());
    return values;
  }
  const auto expected = payload == "-" ? std::vector<std::byte>() : from_hex(payload);
  encoded.resize(*written);
  EXPECT_EQ(encoded, expected);
  std::vector<std::byte> decoded(values.size(), std::byte{0x5A});
  EXPECT_TRUE(kSzp.decode(expected, chunk, parameter, decoded.data()).ok());
  return decoded;
}

Shape parse_shape(const std::string& text) {
  Shape shape{.rank = 0};
  std::istringstream extents(text);
  for (std::string extent; std::getline(extents, extent, 'x');) {
    shape.extent[static_cast<std::size_t>(shape.rank++)] = std::stoull(extent);
  }
  return shape;
}

TEST(SzpGolden, BytesHaveNotDrifted) {
  std::ifstream file(THINWIRE_VECTORS "/szp.txt");
  ASSERT_TRUE(file);
  std::map<std::string, std::vector<std::byte>> periods;
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    SCOPED_TRACE(line.substr(0, 60));
    std::istringstream fields(line);
    std::string what, name, extents, bound, value, payload;
    fields >> what >> name >> extents;
    const Dtype dtype = name == "f32" ? Dtype::kF32 : Dtype::kF64;
    if (what == "period") {
      periods[name] = from_hex(extents);
    } else if (what == "case" || what == "flat") {
      fields >> bound >> value >> payload;
      const Chunk chunk{dtype, parse_shape(extents)};
      const bool is_flat = what == "flat";
      const auto values = repeated(is_flat ? from_hex(value) : periods.at(name), chunk);
      const auto decoded = check_payload(values, chunk, bound, payload);
      if (!is_flat) {
        EXPECT_EQ(fnv1a(decoded), std::stoull(value, nullptr, 16));
      }
      ++cases;
    }
  }
  EXPECT_GE(cases, 36);
}

}  // namespace
}  // namespace thinwire::codec::testing
