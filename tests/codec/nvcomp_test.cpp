// The part of nvCOMP's codecs that needs neither nvCOMP nor a GPU: specs, parameters, and what is
// said if the library is not there.
#include <gtest/gtest.h>

#include "codec/nvcomp/settings.h"
#include "codec/registry.h"
#include "codec/spec.h"

namespace thinwire::codec {
namespace {

constexpr const char* kNames[] = {"nvcomp-ans", "nvcomp-bitcomp", "nvcomp-cascaded", "nvcomp-lz4",
                                  "nvcomp-bitcomp-lossy"};

TEST(Nvcomp, SpecsHaveANormalForm) {
  const std::pair<const char*, const char*> kSpecs[] = {
      {"nvcomp-ans", "nvcomp-ans"},
      {"nvcomp-ans:chunk=64KiB", "nvcomp-ans"},
      {"nvcomp-lz4:chunk=64KiB", "nvcomp-lz4:chunk=65536"},
      {"nvcomp-lz4:chunk=16k", "nvcomp-lz4"},
      {"nvcomp-bitcomp:algorithm=sparse", "nvcomp-bitcomp:algorithm=sparse"},
      {"nvcomp-bitcomp:algorithm=default", "nvcomp-bitcomp"},
      // Rounded down to what nvCOMP's power of two keeps to.
      {"nvcomp-bitcomp-lossy:abs=1", "nvcomp-bitcomp-lossy:abs=1"},
      {"nvcomp-bitcomp-lossy:delta=1", "nvcomp-bitcomp-lossy:abs=0.5"},
      {"nvcomp-bitcomp-lossy:abs=1.999", "nvcomp-bitcomp-lossy:abs=1"},
      {"nvcomp-bitcomp-lossy:chunk=4KiB,algorithm=sparse,abs=0.3",
       "nvcomp-bitcomp-lossy:abs=0.25,algorithm=sparse,chunk=4096"},
  };
  for (const auto& [spec, normal] : kSpecs) {
    const auto parsed = parse_spec(spec);
    ASSERT_TRUE(parsed.ok()) << spec << ": " << parsed.status().message();
    EXPECT_EQ(parsed->text(), normal);
    EXPECT_EQ(parse_spec(parsed->text())->parameter, parsed->parameter);
  }
}

TEST(Nvcomp, WrongSpecsAreRefused) {
  for (const char* spec :
       {"nvcomp-ans:chunk=0", "nvcomp-ans:chunk=2048", "nvcomp-ans:chunk=2MiB",
        "nvcomp-ans:chunk=65535", "nvcomp-ans:chunk=x", "nvcomp-ans:algorithm=sparse",
        "nvcomp-ans:abs=1", "nvcomp-bitcomp:abs=1", "nvcomp-bitcomp:algorithm=dense",
        "nvcomp-bitcomp-lossy", "nvcomp-bitcomp-lossy:abs=0", "nvcomp-bitcomp-lossy:abs=-1",
        "nvcomp-bitcomp-lossy:abs=nan", "nvcomp-bitcomp-lossy:abs=1,delta=1",
        "nvcomp-bitcomp-lossy:abs=1e-320", "nvcomp-bitcomp-lossy:abs=1e308",
        "nvcomp-cascaded:level=3"}) {
    const auto parsed = parse_spec(spec);
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << spec;
  }
}

TEST(Nvcomp, ParametersOfFramesAreChecked) {
  using nvcomp::pack;
  EXPECT_TRUE(kNvcompAns.check(pack({.chunk_log = 16}), Dtype::kBf16, 1).ok());
  EXPECT_FALSE(kNvcompAns.check(0, Dtype::kBf16, 1).ok());
  EXPECT_FALSE(kNvcompAns.check(pack({.chunk_log = 11}), Dtype::kF32, 1).ok());
  EXPECT_FALSE(kNvcompAns.check(pack({.chunk_log = 21}), Dtype::kF32, 1).ok());
  EXPECT_FALSE(kNvcompAns.check(pack({.chunk_log = 16, .algorithm = 1}), Dtype::kF32, 1).ok());
  EXPECT_FALSE(kNvcompAns.check(pack({.chunk_log = 16}) | 1ull << 32, Dtype::kF32, 1).ok());
  EXPECT_TRUE(kNvcompBitcomp.check(pack({.chunk_log = 16, .algorithm = 1}), Dtype::kF32, 1).ok());
  EXPECT_FALSE(kNvcompBitcomp.check(pack({.chunk_log = 16, .algorithm = 2}), Dtype::kF32, 1).ok());
  EXPECT_FALSE(kNvcompBitcompLossy.check(pack({.chunk_log = 16}), Dtype::kF32, 1).ok());
}

TEST(Nvcomp, AStepIsANormalNumberOfTheType) {
  const auto takes = [](int exponent, Dtype dtype) {
    const auto parameter = nvcomp::pack({.chunk_log = 16, .lossy = true, .exponent = exponent});
    EXPECT_EQ(nvcomp::unpack(parameter).exponent, exponent);
    return kNvcompBitcompLossy.check(parameter, dtype, 1).ok();
  };
  EXPECT_TRUE(takes(-14, Dtype::kF16) && takes(15, Dtype::kF16));
  EXPECT_FALSE(takes(-15, Dtype::kF16) || takes(16, Dtype::kF16));
  EXPECT_TRUE(takes(-126, Dtype::kF32) && takes(127, Dtype::kF32));
  EXPECT_FALSE(takes(-127, Dtype::kF32) || takes(128, Dtype::kF32));
  EXPECT_TRUE(takes(-1022, Dtype::kF64) && takes(1023, Dtype::kF64));
  EXPECT_FALSE(takes(-1023, Dtype::kF64));
}

TEST(Nvcomp, RowsAreThereWhateverIsInstalled) {
  for (const char* name : kNames) {
    const Codec* codec = find_codec(name);
    ASSERT_NE(codec, nullptr) << name;
    EXPECT_TRUE(codec->gpu_only);
    ASSERT_NE(codec->available, nullptr);
    const Status first = codec->available();
    EXPECT_EQ(codec->available().message(), first.message());
    if (!first.ok()) {
      EXPECT_EQ(first.code(), StatusCode::kUnsupported);
    }
    const Chunk chunk{Dtype::kF32, Shape::line(4)};
    std::byte values[16]{}, out[64]{};
    const auto parameter = parse_spec(codec->example)->parameter;
    EXPECT_EQ(codec->encode(values, chunk, parameter, out).status().code(),
              StatusCode::kUnsupported);
    EXPECT_EQ(codec->decode(ByteView(values), chunk, parameter, out).code(),
              StatusCode::kUnsupported);
  }
}

}  // namespace
}  // namespace thinwire::codec
