// tw_stats_*: what the library counts of its own calls.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

constexpr std::uint64_t kStatsCount = 40'000;
const tw_shape kStatsShape{TW_F32, 1, {kStatsCount}};

tw_stats read_stats() {
  tw_stats stats{};
  stats.size = sizeof stats;
  EXPECT_EQ(tw_stats_read(TW_STATS_LIBRARY, &stats), TW_OK);
  return stats;
}

std::uint64_t raw_for(tw_reason reason) {
  std::uint64_t counts[TW_REASON_COUNT];
  EXPECT_EQ(tw_stats_raw(TW_STATS_LIBRARY, counts, TW_REASON_COUNT), TW_OK);
  return counts[reason];
}

struct StatsCodec {
  explicit StatsCodec(const char* spec) { EXPECT_EQ(tw_codec_create(spec, &codec), TW_OK); }
  ~StatsCodec() { tw_codec_destroy(codec); }

  std::vector<std::byte> frame_of(const std::vector<float>& values, std::uint32_t flags = 0) {
    std::uint64_t most = 0, written = 0;
    EXPECT_EQ(tw_message_bound(codec, &kStatsShape, &most), TW_OK);
    std::vector<std::byte> frame(most);
    tw_message_options options{};
    options.size = sizeof options;
    options.flags = flags;
    tw_message_encode(codec, &kStatsShape, values.data(), frame.data(), most, &options, &written);
    frame.resize(written);
    return frame;
  }
  tw_codec* codec = nullptr;
};

std::vector<float> smooth_for_stats() {
  std::vector<float> values(kStatsCount);
  for (std::uint64_t at = 0; at < kStatsCount; ++at)
    values[at] = std::sin(1e-3F * static_cast<float>(at));
  return values;
}

TEST(Stats, CountWhatBecameSmaller) {
  const tw_stats before = read_stats();
  const auto frame = StatsCodec("zfp:rate=8").frame_of(smooth_for_stats());
  const tw_stats after = read_stats();
  EXPECT_EQ(after.messages - before.messages, 1U);
  EXPECT_EQ(after.compressed_messages - before.compressed_messages, 1U);
  EXPECT_EQ(after.bytes - before.bytes, 4 * kStatsCount);
  EXPECT_EQ(after.compressed_wire_bytes - before.compressed_wire_bytes, frame.size());
  EXPECT_EQ(after.wire_bytes - before.wire_bytes, frame.size());
}

TEST(Stats, CountWhatWasDeclined) {
  std::vector<float> values = smooth_for_stats();
  values[7] = std::numeric_limits<float>::quiet_NaN();
  for (const std::uint32_t flags : {std::uint32_t{0}, std::uint32_t{TW_MESSAGE_DECLINE}}) {
    const tw_stats before = read_stats();
    const std::uint64_t declined = raw_for(TW_RAW_DECLINED);
    StatsCodec("zfp:rate=8").frame_of(values, flags);
    EXPECT_EQ(raw_for(TW_RAW_DECLINED), declined + 1);
    EXPECT_EQ(read_stats().messages, before.messages + 1);
    EXPECT_EQ(read_stats().compressed_messages, before.compressed_messages);
  }
}

TEST(Stats, CountWhatWasDecodedOrDamaged) {
  auto frame = StatsCodec("mpc").frame_of(smooth_for_stats());
  std::vector<float> values(kStatsCount);
  const tw_stats before = read_stats();
  const auto decode = [&] {
    return tw_message_decode(frame.data(), frame.size(), values.data(), 4 * kStatsCount, nullptr,
                             nullptr);
  };
  EXPECT_EQ(decode(), TW_OK);
  frame[frame.size() / 2] ^= std::byte{1};
  EXPECT_EQ(decode(), TW_DAMAGED);
  EXPECT_EQ(read_stats().decoded_messages - before.decoded_messages, 1U);
  EXPECT_EQ(read_stats().damaged_messages - before.damaged_messages, 1U);
}

TEST(Stats, OfAShorterStructAndOfALongerOne) {
  struct {
    tw_stats known;
    std::uint64_t later;
  } longer{};
  longer.known.size = sizeof longer;
  longer.later = 5;
  EXPECT_EQ(tw_stats_read(TW_STATS_LIBRARY, &longer.known), TW_OK);
  EXPECT_EQ(longer.later, 0U);
  tw_stats shorter{};
  shorter.size = offsetof(tw_stats, bytes);
  shorter.bytes = 5;
  EXPECT_EQ(tw_stats_read(TW_STATS_LIBRARY, &shorter), TW_OK);
  EXPECT_EQ(shorter.bytes, 5U);
  std::uint64_t many[TW_REASON_COUNT + 3];
  many[TW_REASON_COUNT + 2] = 5;
  EXPECT_EQ(tw_stats_raw(TW_STATS_LIBRARY, many, TW_REASON_COUNT + 3), TW_OK);
  EXPECT_EQ(many[TW_REASON_COUNT + 2], 0U);
}

TEST(Stats, RefuseWhatIsNotKnown) {
  tw_stats stats{};
  EXPECT_EQ(tw_stats_read(TW_STATS_LIBRARY, &stats), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_stats_read(TW_STATS_LIBRARY, nullptr), TW_INVALID_ARGUMENT);
  stats.size = sizeof stats;
  EXPECT_EQ(tw_stats_read(static_cast<tw_stats_of>(3), &stats), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_stats_read(TW_STATS_PRELOAD, &stats), TW_UNSUPPORTED);
  EXPECT_EQ(tw_stats_read(TW_STATS_NCCL, &stats), TW_UNSUPPORTED);
  EXPECT_EQ(tw_stats_raw(TW_STATS_LIBRARY, nullptr, 1), TW_INVALID_ARGUMENT);
}

TEST(Stats, KindsAreOfMpiCallsUnderAPreloadLibrary) {
  std::uint32_t kinds = 7;
  EXPECT_EQ(tw_stats_kinds(TW_STATS_LIBRARY, &kinds), TW_UNSUPPORTED);
  EXPECT_EQ(kinds, 0U);
  EXPECT_EQ(tw_stats_kinds(TW_STATS_NCCL, &kinds), TW_UNSUPPORTED);
  EXPECT_EQ(tw_stats_kinds(TW_STATS_PRELOAD, &kinds), TW_UNSUPPORTED);
  EXPECT_EQ(tw_stats_kinds(TW_STATS_PRELOAD, nullptr), TW_INVALID_ARGUMENT);
  EXPECT_EQ(tw_stats_kinds(static_cast<tw_stats_of>(9), &kinds), TW_INVALID_ARGUMENT);
  tw_stats_kind kind{};
  EXPECT_EQ(tw_stats_read_kind(TW_STATS_PRELOAD, 0, &kind), TW_INVALID_ARGUMENT);  // of no size
  kind.size = sizeof kind;
  EXPECT_EQ(tw_stats_read_kind(TW_STATS_PRELOAD, 0, &kind), TW_UNSUPPORTED);
}

}  // namespace
