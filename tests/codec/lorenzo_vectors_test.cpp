// The golden vectors of tests/vectors/lorenzo.txt, made by tools/make_vectors/lorenzo.py from the
// page.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "codec/hex.h"
#include "codec/lorenzo/lorenzo.h"

namespace thinwire::codec::testing {
namespace {

Dtype dtype_of(const std::string& name) {
  for (int code = 0; code < kDtypeCount; ++code) {
    if (name == dtype_name(static_cast<Dtype>(code))) return static_cast<Dtype>(code);
  }
  return Dtype::kBytes;
}

void check_case(const Chunk& chunk, const std::vector<std::byte>& period, std::uint64_t tuple,
                const std::vector<std::byte>& stream) {
  std::vector<std::byte> values(chunk.raw_bytes());
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = period[at % period.size()];
  std::vector<std::byte> encoded(kLorenzo.bound(chunk, tuple));
  const auto written = kLorenzo.encode(values.data(), chunk, tuple, encoded.data());
  ASSERT_TRUE(written.ok());
  encoded.resize(*written);
  EXPECT_EQ(encoded, stream);
  std::vector<std::byte> decoded(values.size());
  ASSERT_TRUE(kLorenzo.decode(stream, chunk, tuple, decoded.data()).ok());
  EXPECT_EQ(decoded, values);
}

TEST(LorenzoGolden, BytesHaveNotDrifted) {
  std::ifstream file(THINWIRE_VECTORS "/lorenzo.txt");
  ASSERT_TRUE(file);
  std::map<std::string, std::vector<std::byte>> periods;
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string what, name, hex, extents;
    fields >> what >> name;
    if (what == "period") {
      fields >> hex;
      periods[name] = from_hex(hex);
    } else if (what == "case") {
      std::uint64_t tuple = 0;
      fields >> extents >> tuple >> hex;
      Chunk chunk{dtype_of(name), {.rank = 0, .extent = {}}};
      std::istringstream axes(extents);
      for (std::string extent; std::getline(axes, extent, 'x');) {
        chunk.shape.extent[static_cast<std::size_t>(chunk.shape.rank++)] = std::stoull(extent);
      }
      SCOPED_TRACE(::testing::Message() << name << " " << extents << ", tuple " << tuple);
      check_case(chunk, periods.at(name), tuple, from_hex(hex));
      ++cases;
    }
  }
  EXPECT_GE(cases, 30);
}

}  // namespace
}  // namespace thinwire::codec::testing
