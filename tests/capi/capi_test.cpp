#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "thinwire/thinwire.h"

extern "C" int header_is_plain_c(void);

namespace {

struct Codec {
  tw_codec* handle = nullptr;
  explicit Codec(const char* spec) { EXPECT_EQ(tw_codec_create(spec, &handle), TW_OK) << spec; }
  ~Codec() { tw_codec_destroy(handle); }
};

tw_shape line(std::uint64_t count) { return {TW_F32, 1, {count, 0, 0, 0}}; }

tw_message_info blank_info() {
  tw_message_info info{};
  info.size = sizeof info;
  return info;
}

std::vector<float> wave(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t at = 0; at < count; ++at) values[at] = std::sin(0.01f * static_cast<float>(at));
  return values;
}

TEST(CApi, TheHeaderIsPlainC) { EXPECT_EQ(header_is_plain_c(), 0); }

TEST(CApi, EncodesInspectsAndDecodes) {
  const Codec codec("zfp:rate=16");
  const auto values = wave(100000);
  const tw_shape shape = line(values.size());
  std::uint64_t most = 0, written = 0;
  ASSERT_EQ(tw_message_bound(codec.handle, &shape, &most), TW_OK);
  std::vector<char> frame(most);
  ASSERT_EQ(tw_message_encode(codec.handle, &shape, values.data(), frame.data(), frame.size(),
                              nullptr, &written),
            TW_OK);
  EXPECT_LT(written, 4 * values.size() / 1.9);
  tw_message_info info = blank_info();
  ASSERT_EQ(tw_message_inspect(frame.data(), written, nullptr, &info), TW_OK);
  EXPECT_STREQ(info.spec, "zfp:rate=16");
  EXPECT_EQ(info.raw_bytes, 4 * values.size());
  EXPECT_EQ(info.frame_bytes, written);
  EXPECT_EQ(info.shape.extent[0], values.size());
  std::vector<float> out(values.size());
  ASSERT_EQ(tw_message_decode(frame.data(), written, out.data(), 4 * out.size(), nullptr, nullptr),
            TW_OK);
  for (std::size_t at = 0; at < out.size(); ++at) ASSERT_NEAR(out[at], values[at], 1e-3);
}

TEST(CApi, AFramesSpecIsSaidWhole) {
  const Codec codec(
      "blockq:bits=8,block=128,scale=e8m0,hadamard=1,round=stochastic,seed=4294967295");
  const auto values = wave(1000);
  const tw_shape shape = line(values.size());
  std::vector<char> frame(10000);
  std::uint64_t written = 0;
  ASSERT_EQ(tw_message_encode(codec.handle, &shape, values.data(), frame.data(), frame.size(),
                              nullptr, &written),
            TW_OK);
  tw_message_info info = blank_info();
  ASSERT_EQ(tw_message_inspect(frame.data(), written, nullptr, &info), TW_OK);
  EXPECT_STREQ(info.whole_spec, tw_codec_spec(codec.handle));
  EXPECT_EQ(std::string(info.spec), std::string(info.whole_spec).substr(0, sizeof info.spec - 1));
}

TEST(CApi, AFramesSpecHasItsFillValue) {
  auto values = wave(100000);
  const tw_shape shape = line(values.size());
  std::vector<char> frame(500000);
  const auto spec_with = [&](float fill, const char* text) {
    for (std::size_t at = 0; at < values.size(); at += 3) values[at] = fill;
    const Codec codec(text);
    std::uint64_t written = 0;
    EXPECT_EQ(tw_message_encode(codec.handle, &shape, values.data(), frame.data(), frame.size(),
                                nullptr, &written),
              TW_OK);
    tw_message_info info = blank_info();
    EXPECT_EQ(tw_message_inspect(frame.data(), written, nullptr, &info), TW_OK);
    const Codec same(info.whole_spec);
    EXPECT_STREQ(tw_codec_spec(same.handle), info.whole_spec);
    return std::string(info.whole_spec);
  };
  EXPECT_EQ(spec_with(1e36f, "szp:abs=0.01,fill=auto"), "szp:abs=0.01,fill=1e36");
  EXPECT_EQ(spec_with(9.96921e36f, "zfp:rate=8,fill=auto"), "zfp:rate=8,fill=9.96921e36");
  EXPECT_EQ(spec_with(-9999, "blockq:fill=-9999"), "blockq:bits=8,block=32,fill=-9999");
  EXPECT_EQ(spec_with(NAN, "szp:abs=0.01,fill=nan"), "szp:abs=0.01,fill=nan");
  EXPECT_EQ(spec_with(INFINITY, "szp:abs=0.01,fill=inf"), "szp:abs=0.01,fill=inf");
  EXPECT_EQ(spec_with(0.1f, "szp:abs=0.01,fill=auto"), "szp:abs=0.01");
}

TEST(CApi, JobsDoNotReadEachOthersMessages) {
  const Codec codec("zfp:rate=8");
  const auto values = wave(5000);
  const tw_shape shape = line(values.size());
  tw_message_options mine{sizeof mine, 0, "job 1", 5, nullptr, 0, 0};
  tw_message_options other{sizeof other, 0, "job 2", 5, nullptr, 0, 0};
  std::vector<char> frame(30000);
  std::uint64_t written = 0;
  ASSERT_EQ(tw_message_encode(codec.handle, &shape, values.data(), frame.data(), frame.size(),
                              &mine, &written),
            TW_OK);
  tw_message_info info = blank_info();
  EXPECT_EQ(tw_message_inspect(frame.data(), written, &mine, &info), TW_OK);
  EXPECT_EQ(tw_message_inspect(frame.data(), written, &other, &info), TW_NOT_A_FRAME);
  EXPECT_EQ(tw_message_inspect(frame.data(), written, nullptr, &info), TW_NOT_A_FRAME);
}

TEST(CApi, MisuseIsAnErrorWithAText) {
  const Codec codec("raw");
  const tw_shape shape = line(4);
  std::uint64_t number = 0;
  tw_codec* handle = nullptr;
  tw_message_info unsized{};
  char byte = 0;
  EXPECT_EQ(tw_codec_create(nullptr, &handle), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_codec_create("nonsense", &handle), TW_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(tw_last_error(), "nonsense"), nullptr);
  EXPECT_EQ(tw_message_bound(nullptr, &shape, &number), TW_INVALID_ARGUMENT);
  const tw_shape bad_rank{TW_F32, 5, {1, 1, 1, 1}}, bad_dtype{99, 1, {1, 0, 0, 0}};
  EXPECT_EQ(tw_message_bound(codec.handle, &bad_rank, &number), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_message_bound(codec.handle, &bad_dtype, &number), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_message_inspect(&byte, 1, nullptr, &unsized), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_message_decode(nullptr, 1, &byte, 1, nullptr, nullptr), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_size_parse("many", &number), TW_INVALID_ARGUMENT);
  tw_codec_info info{};
  EXPECT_EQ(tw_codec_describe(0, &info), TW_INVALID_ARGUMENT);
  info.size = sizeof info;
  EXPECT_EQ(tw_codec_describe(10000, &info), TW_INVALID_ARGUMENT);
  for (int status = TW_OK; status <= TW_DEVICE; ++status) {
    EXPECT_STRNE(tw_status_text(static_cast<tw_status>(status)), "unknown status");
  }
}

TEST(CApi, ASpecSaysWhetherItNeedsALinkAndTakesReductions) {
  struct Row {
    const char* spec;
    std::uint32_t needs_link;
    tw_reductions reductions;
  };
  for (const Row& row :
       {Row{"off", 0, TW_REDUCTIONS_NATIVE}, Row{"auto", 1, TW_REDUCTIONS_NATIVE},
        Row{"mpc:stride=1", 0, TW_REDUCTIONS_CODED}, Row{"lossless", 0, TW_REDUCTIONS_UNSAID},
        Row{"lossless:reductions=native", 0, TW_REDUCTIONS_NATIVE},
        Row{"lossless:reductions=coded", 0, TW_REDUCTIONS_CODED},
        Row{"lossless:reductions=ordered", 0, TW_REDUCTIONS_ORDERED},
        Row{"lossless:reductions=exact", 0, TW_REDUCTIONS_EXACT},
        Row{"szp:abs=0.001,allreduce-abs=0.01", 0, TW_REDUCTIONS_CODED},
        Row{"szp:allreduce-abs=0.01", 0, TW_REDUCTIONS_ALONE}}) {
    tw_codec* codec = nullptr;
    ASSERT_EQ(tw_codec_create(row.spec, &codec), TW_OK) << tw_last_error();
    EXPECT_EQ(tw_codec_needs_link(codec), row.needs_link) << row.spec;
    EXPECT_EQ(tw_codec_reductions(codec), row.reductions) << row.spec;
    EXPECT_STREQ(tw_codec_spec(codec), row.spec);
    tw_codec_destroy(codec);
  }
  EXPECT_EQ(tw_codec_needs_link(nullptr), 0u);
  EXPECT_EQ(tw_codec_has_fill(nullptr), 0u);
  EXPECT_EQ(tw_codec_has_fill(Codec("szp:rel=1e-3").handle), 0u);
  EXPECT_EQ(tw_codec_has_fill(Codec("zfp:rate=8,fill=nan,shape=3x?").handle), 1u);
  EXPECT_EQ(tw_codec_reductions(nullptr), TW_REDUCTIONS_NATIVE);
}

TEST(CApi, LastErrorIsPerThread) {
  tw_codec* handle = nullptr;
  ASSERT_EQ(tw_codec_create("mine", &handle), TW_INVALID_ARGUMENT);
  std::thread([] {
    tw_codec* other = nullptr;
    ASSERT_EQ(tw_codec_create("other", &other), TW_INVALID_ARGUMENT);
  }).join();
  EXPECT_NE(std::strstr(tw_last_error(), "mine"), nullptr);
}

TEST(CApi, EveryCodecIsDescribedAndMeasured) {
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    ASSERT_EQ(tw_codec_describe(index, &info), TW_OK);
    const Codec codec(info.example);
    EXPECT_EQ(tw_codec_id(codec.handle), static_cast<std::int32_t>(info.id));
    EXPECT_STREQ(tw_codec_spec(codec.handle), info.example);
    tw_codec_cost cost{};
    cost.size = sizeof cost;
    ASSERT_NE(tw_codec_missing(index), nullptr);
    if (info.gpu_only != 0) {
      EXPECT_EQ(tw_codec_measure(codec.handle, TW_F32, 65536, &cost), TW_UNSUPPORTED);
      EXPECT_NE(std::strstr(tw_last_error(), info.name), nullptr) << tw_last_error();
      continue;
    }
    EXPECT_STREQ(tw_codec_missing(index), "");
    if (info.id < 0xF0) {
      EXPECT_EQ(tw_codec_measure(codec.handle, TW_F32, 65536, &cost), TW_OK);
      EXPECT_GT(cost.decode_bytes_per_second, 0);
    }
  }
  EXPECT_EQ(tw_codec_missing(tw_codec_count()), nullptr);
  EXPECT_EQ(tw_codec_id(Codec("off").handle), -1);
}

}  // namespace
