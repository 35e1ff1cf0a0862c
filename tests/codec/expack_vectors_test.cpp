// The golden vectors of tests/vectors/expack-1d.txt, made by tools/make_vectors/expack.py from the
// page.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "codec/expack/expack.h"
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
                std::uint64_t mode, const std::vector<std::byte>& stream) {
  const Chunk chunk{dtype, Shape::line(count)};
  std::vector<std::byte> values(chunk.raw_bytes());
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = period[at % period.size()];
  std::vector<std::byte> encoded(kExpack.bound(chunk, mode));
  const auto written = kExpack.encode(values.data(), chunk, mode, encoded.data());
  ASSERT_TRUE(written.ok());
  encoded.resize(*written);
  EXPECT_EQ(encoded, stream);
  std::vector<std::byte> decoded(values.size());
  ASSERT_TRUE(kExpack.decode(stream, chunk, mode, decoded.data()).ok());
  EXPECT_EQ(decoded, values);
}

TEST(ExpackGolden, BytesHaveNotDrifted) {
  std::ifstream file(THINWIRE_VECTORS "/expack-1d.txt");
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
      std::uint64_t mode = 0;
      fields >> count >> mode >> hex;
      SCOPED_TRACE(::testing::Message()
                   << name << " " << dtype << ", " << count << " values, mode " << mode);
      check_case(dtype_of(dtype), periods.at(name + dtype), count, mode, from_hex(hex));
      ++cases;
    }
  }
  EXPECT_GE(cases, 133);
}

}  // namespace
}  // namespace thinwire::codec::testing
