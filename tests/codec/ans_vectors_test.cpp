// The golden vectors of tests/vectors/ans.txt, made by tools/make_vectors/ans.py from the page.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "codec/ans/ans.h"
#include "codec/hex.h"

namespace thinwire::codec::testing {
namespace {

Dtype dtype_of(const std::string& name) {
  for (int code = 0; code < kDtypeCount; ++code) {
    if (name == dtype_name(static_cast<Dtype>(code))) return static_cast<Dtype>(code);
  }
  return Dtype::kBytes;
}

void check_case(Dtype dtype, const std::vector<std::byte>& period, std::size_t count,
                std::uint64_t tuple, const std::vector<std::byte>& stream) {
  const Chunk chunk{dtype, Shape::line(count)};
  std::vector<std::byte> values(chunk.raw_bytes());
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = period[at % period.size()];
  std::vector<std::byte> encoded(kAns.bound(chunk, tuple));
  const auto written = kAns.encode(values.data(), chunk, tuple, encoded.data());
  ASSERT_TRUE(written.ok());
  encoded.resize(*written);
  EXPECT_EQ(encoded, stream);
  std::vector<std::byte> decoded(values.size());
  ASSERT_TRUE(kAns.decode(stream, chunk, tuple, decoded.data()).ok());
  EXPECT_EQ(decoded, values);
}

TEST(AnsGolden, BytesHaveNotDrifted) {
  std::ifstream file(THINWIRE_VECTORS "/ans.txt");
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
      std::uint64_t tuple = 0;
      fields >> count >> tuple >> hex;
      SCOPED_TRACE(::testing::Message()
                   << name << " " << dtype << ", " << count << " values, tuple " << tuple);
      check_case(dtype_of(dtype), periods.at(name + dtype), count, tuple, from_hex(hex));
      ++cases;
    }
  }
  EXPECT_GE(cases, 280);
}

}  // namespace
}  // namespace thinwire::codec::testing
