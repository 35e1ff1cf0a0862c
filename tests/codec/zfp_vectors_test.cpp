// The golden vectors of tests/vectors/zfp-*.txt, made by tools/make_vectors/zfp.py from libzfp.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "codec/hex.h"
#include "codec/zfp_arrays.h"

namespace thinwire::codec::testing {
namespace {

// FNV-1a, 64 bits, of the bytes of an array.
template <typename Scalar>
std::uint64_t hash_of(const std::vector<Scalar>& values) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto word : bits_of(values)) {
    for (std::size_t byte = 0; byte < sizeof word; ++byte)
      hash = (hash ^ (word >> 8 * byte & 0xff)) * 0x100000001b3;
  }
  return hash;
}

// As in "5x3x6".
Shape read_shape(const std::string& text) {
  Shape shape;
  shape.rank = 0;
  std::istringstream fields(text);
  for (std::string extent; std::getline(fields, extent, 'x');) {
    shape.extent[static_cast<std::size_t>(shape.rank++)] = std::stoull(extent);
  }
  return shape;
}

template <typename Scalar>
struct Vectors {
  std::vector<Scalar> period;
  struct Case {
    Shape shape;
    std::uint64_t rate;
    std::vector<std::byte> stream;
    std::uint64_t decoded_hash;
  };
  std::vector<Case> cases;
};

template <typename Scalar>
Vectors<Scalar> read_vectors(const std::string& path) {
  Vectors<Scalar> vectors;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string what, shape, hex, hash;
    fields >> what;
    if (what == "period") {
      fields >> hex;
      const auto bytes = from_hex(hex);
      vectors.period.resize(bytes.size() / sizeof(Scalar));
      std::memcpy(vectors.period.data(), bytes.data(), bytes.size());
    } else if (what == "case") {
      typename Vectors<Scalar>::Case entry{};
      fields >> shape >> entry.rate >> hash >> hex;
      entry.shape = read_shape(shape);
      entry.stream = from_hex(hex);
      entry.decoded_hash = std::stoull(hash, nullptr, 16);
      vectors.cases.push_back(std::move(entry));
    }
    EXPECT_TRUE(what.empty() || what[0] == '#' || !fields.fail()) << line.substr(0, 60);
  }
  return vectors;
}

template <typename Scalar>
void expect_no_drift(const std::string& name, std::size_t cases) {
  const auto vectors = read_vectors<Scalar>(THINWIRE_VECTORS "/" + name);
  ASSERT_EQ(vectors.period.size(), 251u);
  ASSERT_GE(vectors.cases.size(), cases);
  for (const auto& entry : vectors.cases) {
    SCOPED_TRACE(::testing::Message()
                 << name << ": " << entry.shape.count() << " values, " << entry.rate << "/64 bits");
    std::vector<Scalar> values(entry.shape.count());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = vectors.period[i % 251];
    const auto stream = encode_array(values, entry.shape, entry.rate);
    ASSERT_TRUE(stream.ok());
    EXPECT_EQ(*stream, entry.stream);
    const auto decoded = decode_array<Scalar>(entry.stream, entry.shape, entry.rate);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(hash_of(*decoded), entry.decoded_hash);
  }
}

TEST(ZfpGolden, BytesAndValuesHaveNotDrifted) {
  expect_no_drift<float>("zfp-1d-f32.txt", 57);
  expect_no_drift<float>("zfp-2d-f32.txt", 36);
  expect_no_drift<float>("zfp-3d-f32.txt", 22);
  expect_no_drift<double>("zfp-1d-f64.txt", 49);
  expect_no_drift<double>("zfp-2d-f64.txt", 31);
  expect_no_drift<double>("zfp-3d-f64.txt", 19);
}

}  // namespace
}  // namespace thinwire::codec::testing
