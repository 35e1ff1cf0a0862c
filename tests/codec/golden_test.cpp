// The golden vectors of tests/vectors, whose lines tests/vectors/README.md has: every codec writes
// their payloads, and reads them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "codec/codec.h"
#include "codec/layout.h"
#include "codec/registry.h"
#include "codec/spec.h"

namespace thinwire::codec::testing {

using Bytes = std::vector<std::byte>;

inline Bytes from_hex(const std::string& text) {
  Bytes bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return bytes;
}

inline std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream fields(text);
  for (std::string part; std::getline(fields, part, between);) parts.push_back(part);
  return parts;
}

struct GoldenCase {
  std::string spec;
  std::uint64_t parameter = 0;
  Chunk array;  // or one chunk, of this index
  bool is_chunk = false;
  Bytes values;
  std::vector<std::optional<Bytes>> payloads;  // none for one that would not be smaller
  std::optional<std::uint64_t> decoded;        // the FNV-1a, of what are not the values
};

inline Dtype golden_dtype(const std::string& name) {
  for (int code = 0; code < kDtypeCount; ++code) {
    if (name == dtype_name(static_cast<Dtype>(code))) return static_cast<Dtype>(code);
  }
  throw std::invalid_argument("no element type: " + name);
}

inline GoldenCase golden_case(std::istringstream& fields,
                              const std::map<std::string, Bytes>& periods) {
  std::string parameter, dtype, extents, period, place, payloads, decoded;
  GoldenCase found;
  fields >> found.spec >> parameter >> dtype >> extents >> period >> place >> payloads >> decoded;
  if (!fields) throw std::invalid_argument("a case that lacks fields");
  found.parameter = std::stoull(parameter, nullptr, 16);
  found.array = {golden_dtype(dtype), Shape{.rank = 0, .extent = {}}};
  Shape& shape = found.array.shape;
  for (const std::string& extent : parts_of(extents, 'x')) {
    shape.extent[static_cast<std::size_t>(shape.rank++)] = std::stoull(extent);
  }
  found.is_chunk = place != "array";
  if (found.is_chunk) found.array.index = std::stoull(place.substr(place.find('-') + 1));
  const Bytes& repeated = periods.at(period + " " + dtype);
  found.values.resize(found.array.raw_bytes());
  for (std::size_t at = 0; at < found.values.size(); ++at) {
    found.values[at] = repeated[at % repeated.size()];
  }
  for (const std::string& each : parts_of(payloads, ',')) {
    found.payloads.push_back(each == "raw" ? std::nullopt
                                           : std::optional(from_hex(each == "-" ? "" : each)));
  }
  if (decoded != "same") found.decoded = std::stoull(decoded, nullptr, 16);
  return found;
}

// Throws for a file that is cut short, or has lines of another kind.
inline std::vector<GoldenCase> golden_cases(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, Bytes> periods;
  std::vector<GoldenCase> cases;
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string what, name, dtype, hex;
    fields >> what;
    if (what == "period" && fields >> name >> dtype >> hex) {
      periods[name + " " + dtype] = from_hex(hex);
    } else if (what == "case") {
      cases.push_back(golden_case(fields, periods));
    } else if (what != "#" && !(what == "end" && fields >> count)) {
      throw std::invalid_argument(path + ": a line that begins with " + what);
    }
  }
  if (count == 0 || cases.size() != count) throw std::invalid_argument(path + ": cut short");
  return cases;
}

namespace {

std::uint64_t fnv1a(const Bytes& bytes) {
  std::uint64_t value = 0xCBF29CE484222325u;
  for (const std::byte byte : bytes) {
    value = (value ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3u;
  }
  return value;
}

// `is_older` if only a version before this one encodes so.
void expect_chunk(const Codec& codec, std::uint64_t parameter, bool is_older, const Chunk& chunk,
                  const std::byte* values, const std::optional<Bytes>& payload, std::byte* out) {
  if (is_older) {
    ASSERT_TRUE(payload.has_value());
    EXPECT_TRUE(codec.decode(*payload, chunk, parameter, out).ok());
    return;
  }
  Bytes encoded(codec.bound(chunk, parameter));
  const auto written = codec.encode(values, chunk, parameter, encoded.data());
  ASSERT_TRUE(written.ok());
  if (!payload) {
    EXPECT_GE(*written, chunk.raw_bytes());
    std::copy(values, values + chunk.raw_bytes(), out);
    return;
  }
  encoded.resize(*written);
  EXPECT_EQ(encoded, *payload);
  EXPECT_TRUE(codec.decode(*payload, chunk, parameter, out).ok());
}

void expect_case(const GoldenCase& given) {
  const auto spec = parse_spec(given.spec);
  ASSERT_TRUE(spec.ok() && spec->codec != nullptr);
  const Codec& codec = *spec->codec;
  const bool is_older = codec.older_versions > 0 && spec->parameter != given.parameter;
  EXPECT_TRUE(is_older || spec->parameter == given.parameter);
  EXPECT_TRUE(codec.check(given.parameter, given.array.dtype, given.array.shape.rank).ok());
  Bytes out(given.values.size(), std::byte{0x5A});
  if (given.is_chunk) {
    ASSERT_EQ(given.payloads.size(), 1u);
    expect_chunk(codec, given.parameter, is_older, given.array, given.values.data(),
                 given.payloads[0], out.data());
  } else {
    const Layout layout = make_layout(codec, given.parameter, given.array);
    ASSERT_EQ(given.payloads.size(), layout.chunks);
    ASSERT_TRUE(layout.chunks == 1 || !layout.in_boxes) << "their values lie scattered";
    for (std::uint64_t at = 0; at < layout.chunks; ++at) {
      const std::uint64_t offset = layout.raw_offset(at);
      expect_chunk(codec, given.parameter, is_older, layout.chunk(at), given.values.data() + offset,
                   given.payloads[at], out.data() + offset);
    }
  }
  if (given.decoded) {
    EXPECT_EQ(fnv1a(out), *given.decoded);
  } else {
    EXPECT_EQ(out, given.values);
  }
}

std::vector<std::string> codecs_with_vectors() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(THINWIRE_VECTORS)) {
    if (file.path().extension() == ".txt") names.push_back(file.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, BytesHaveNotDrifted) {
  for (const GoldenCase& each : golden_cases(THINWIRE_VECTORS "/" + GetParam() + ".txt")) {
    SCOPED_TRACE(::testing::Message() << each.spec << ", " << dtype_name(each.array.dtype) << ", "
                                      << each.array.shape.count() << " values");
    EXPECT_EQ(each.spec.substr(0, each.spec.find(':')), GetParam());
    expect_case(each);
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, Golden, ::testing::ValuesIn(codecs_with_vectors()),
                         [](const auto& tested) { return tested.param; });

TEST(GoldenFiles, EveryCodecThatRunsHereHasOne) {
  const std::vector<std::string> names = codecs_with_vectors();
  for (const Codec* codec : all_codecs()) {
    if (codec == &raw_codec() || codec->gpu_only || codec->test_only()) continue;
    EXPECT_TRUE(std::ranges::binary_search(names, codec->name)) << codec->name;
  }
}

}  // namespace

}  // namespace thinwire::codec::testing
