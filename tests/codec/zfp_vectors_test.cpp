// The golden vectors of tests/vectors/zfp-1d-f32.txt, made by tools/make_vectors/zfp.py from
// libzfp.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "codec/hex.h"
#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

// FNV-1a, 64 bits, of the bytes of an array.
std::uint64_t hash_of(const std::vector<float>& values) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint32_t word : bits_of(values)) {
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ (word >> shift & 0xff)) * 0x100000001b3;
  }
  return hash;
}

struct Vectors {
  std::vector<float> period;
  struct Case {
    std::size_t count;
    std::uint64_t block_bits;
    std::vector<std::byte> stream;
    std::uint64_t decoded_hash;
  };
  std::vector<Case> cases;
};

Vectors read_vectors(const std::string& path) {
  Vectors vectors;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string what, hex, hash;
    fields >> what;
    if (what == "period") {
      fields >> hex;
      const auto bytes = from_hex(hex);
      vectors.period.resize(bytes.size() / sizeof(float));
      std::memcpy(vectors.period.data(), bytes.data(), bytes.size());
    } else if (what == "case") {
      Vectors::Case entry{};
      fields >> entry.count >> entry.block_bits >> hash >> hex;
      entry.stream = from_hex(hex);
      entry.decoded_hash = std::stoull(hash, nullptr, 16);
      vectors.cases.push_back(std::move(entry));
    }
    EXPECT_TRUE(what.empty() || what[0] == '#' || !fields.fail()) << line.substr(0, 60);
  }
  return vectors;
}

TEST(ZfpGolden, BytesAndValuesHaveNotDrifted) {
  const auto vectors = read_vectors(THINWIRE_VECTORS "/zfp-1d-f32.txt");
  ASSERT_EQ(vectors.period.size(), 251u);
  ASSERT_GE(vectors.cases.size(), 50u);
  for (const auto& entry : vectors.cases) {
    SCOPED_TRACE(::testing::Message() << entry.count << " values, " << entry.block_bits << " bits");
    std::vector<float> values(entry.count);
    for (std::size_t i = 0; i < entry.count; ++i) values[i] = vectors.period[i % 251];
    const auto stream = encode_array(values, entry.block_bits);
    ASSERT_TRUE(stream.ok());
    EXPECT_EQ(*stream, entry.stream);
    const auto decoded = decode_array(entry.stream, entry.count, entry.block_bits);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(hash_of(*decoded), entry.decoded_hash);
  }
}

}  // namespace
}  // namespace thinwire::codec::testing
