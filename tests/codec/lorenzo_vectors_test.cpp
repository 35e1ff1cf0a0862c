// The golden vectors of tests/vectors/lorenzo.txt, made by tools/make_vectors/lorenzo.py from the
// page.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "codec/codecs.h"
#include "codec/golden.h"

namespace thinwire::codec::testing {
namespace {

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
      Chunk chunk{dtype_named(name), {.rank = 0, .extent = {}}};
      std::istringstream axes(extents);
      for (std::string extent; std::getline(axes, extent, 'x');) {
        chunk.shape.extent[static_cast<std::size_t>(chunk.shape.rank++)] = std::stoull(extent);
      }
      SCOPED_TRACE(::testing::Message() << name << " " << extents << ", tuple " << tuple);
      expect_golden(kLorenzo, chunk, periods.at(name), tuple, from_hex(hex));
      ++cases;
    }
  }
  EXPECT_GE(cases, 30);
}

}  // namespace
}  // namespace thinwire::codec::testing
