// The golden vectors of tests/vectors/mpc-1d.txt, made by tools/make_vectors/mpc.py from the page.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "codec/codecs.h"
#include "codec/hex.h"

namespace thinwire::codec::testing {
namespace {

void check_case(const std::string& name, const std::vector<std::byte>& period, std::size_t count,
                std::uint64_t stride, const std::vector<std::byte>& stream) {
  const Chunk chunk{name == "f32" ? Dtype::kF32 : Dtype::kF64, Shape::line(count)};
  std::vector<std::byte> values(chunk.raw_bytes());
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = period[at % period.size()];
  std::vector<std::byte> encoded(kMpc.bound(chunk, stride));
  const auto written = kMpc.encode(values.data(), chunk, stride, encoded.data());
  ASSERT_TRUE(written.ok());
  encoded.resize(*written);
  EXPECT_EQ(encoded, stream);
  std::vector<std::byte> decoded(values.size());
  ASSERT_TRUE(kMpc.decode(stream, chunk, stride, decoded.data()).ok());
  EXPECT_EQ(decoded, values);
}

TEST(MpcGolden, BytesHaveNotDrifted) {
  std::ifstream file(THINWIRE_VECTORS "/mpc-1d.txt");
  ASSERT_TRUE(file);
  std::map<std::string, std::vector<std::byte>> periods;
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string what, name, hex;
    fields >> what >> name;
    if (what == "period") {
      fields >> hex;
      periods[name] = from_hex(hex);
    } else if (what == "case") {
      std::size_t count = 0;
      std::uint64_t stride = 0;
      fields >> count >> stride >> hex;
      SCOPED_TRACE(::testing::Message() << name << ", " << count << " values, stride " << stride);
      check_case(name, periods.at(name), count, stride, from_hex(hex));
      ++cases;
    }
  }
  EXPECT_GE(cases, 26);
}

}  // namespace
}  // namespace thinwire::codec::testing
