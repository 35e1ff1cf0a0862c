// The golden vectors of tests/vectors: every codec writes their payloads, and reads them.
#include "codec/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "codec/layout.h"
#include "codec/registry.h"

namespace thinwire::codec::testing {
namespace {

std::uint64_t fnv1a(const Bytes& bytes) {
  std::uint64_t value = 0xCBF29CE484222325u;
  for (const std::byte byte : bytes) {
    value = (value ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3u;
  }
  return value;
}

void expect_chunk(const Codec& codec, std::uint64_t parameter, const Chunk& chunk,
                  const std::byte* values, const std::optional<Bytes>& payload, std::byte* out) {
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
  EXPECT_EQ(spec->parameter, given.parameter);
  EXPECT_TRUE(codec.check(given.parameter, given.array.dtype, given.array.shape.rank).ok());
  Bytes out(given.values.size(), std::byte{0x5A});
  if (given.is_chunk) {
    ASSERT_EQ(given.payloads.size(), 1u);
    expect_chunk(codec, given.parameter, given.array, given.values.data(), given.payloads[0],
                 out.data());
  } else {
    const Layout layout = make_layout(codec, given.parameter, given.array);
    ASSERT_EQ(given.payloads.size(), layout.chunks);
    ASSERT_TRUE(layout.chunks == 1 || !layout.in_boxes) << "their values lie scattered";
    for (std::uint64_t at = 0; at < layout.chunks; ++at) {
      const std::uint64_t offset = layout.raw_offset(at);
      expect_chunk(codec, given.parameter, layout.chunk(at), given.values.data() + offset,
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
