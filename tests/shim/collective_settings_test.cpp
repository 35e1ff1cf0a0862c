// Tests of the user's settings for collectives, of how ranks compare them, and of the links on
// which collectives pay in parts.
#include <gtest/gtest.h>

#include <algorithm>

#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "shim/mpi/collective/parts.h"
#include "shim/mpi/state/collective_settings.h"

namespace thinwire::mpi {
namespace {

CollectiveSettings with(const char* collectives, const char* algorithm = "") {
  setenv("THINWIRE_COLLECTIVES", collectives, 1);
  setenv("THINWIRE_ALGORITHM", algorithm, 1);
  const CollectiveSettings settings = read_collective_settings();
  unsetenv("THINWIRE_COLLECTIVES");
  unsetenv("THINWIRE_ALGORITHM");
  return settings;
}

std::string text_of(const CollectiveSettings& settings, const char* spec = "zfp:rate=16") {
  tw_codec* codec = nullptr;
  EXPECT_EQ(tw_codec_create(spec, &codec), TW_OK);
  tw_plan_settings plan{};
  plan.threshold = 4096;
  const std::string text = collective_settings_text(settings, codec, plan);
  tw_codec_destroy(codec);
  return text;
}

TEST(CollectiveSettings, WithoutAWordAllButThoseByNameAlone) {
  const CollectiveSettings settings = read_collective_settings();
  EXPECT_TRUE(settings.calls & bit_of(CollectiveCall::kBcast));
  EXPECT_TRUE(settings.calls & bit_of(CollectiveCall::kReduceScatter));
  EXPECT_FALSE(settings.calls & bit_of(CollectiveCall::kAlltoallv));
  EXPECT_FALSE(settings.calls & bit_of(CollectiveCall::kGatherv));
  EXPECT_EQ(settings.calls, with("on").calls);
}

TEST(CollectiveSettings, NamesAddUp) {
  EXPECT_EQ(with("off").calls, 0u);
  EXPECT_EQ(with("bcast").calls, bit_of(CollectiveCall::kBcast));
  EXPECT_EQ(with("bcast,gatherv").calls,
            bit_of(CollectiveCall::kBcast) | bit_of(CollectiveCall::kGatherv));
  EXPECT_EQ(with("on,alltoallw").calls, with("on").calls | bit_of(CollectiveCall::kAlltoallw));
}

TEST(CollectiveSettings, AnUnknownNameIsAsIfNothingWereSaid) {
  EXPECT_EQ(with("bcast,bcats").calls, with("on").calls);
  EXPECT_EQ(with("on", "rings").algorithm, static_cast<std::uint32_t>(TW_ALGORITHM_PLANNED));
}

// The table of settings has the words of both, and no others.
TEST(CollectiveSettings, EveryWordOfTheTableIsOneHere) {
  const auto words_of = [](const char* name) {
    tw_setting_info info{};
    info.size = sizeof info;
    std::uint32_t at = 0;
    while (tw_setting_describe(at++, &info) == TW_OK && std::string(info.name) != name) continue;
    EXPECT_STREQ(info.name, name);
    std::istringstream words(info.words);
    return std::set<std::string>(std::istream_iterator<std::string>(words), {});
  };
  std::set<std::string> calls = {"on", "off", "0"};
#define THINWIRE_NAME(name, text, by_default) calls.insert(text);
  THINWIRE_COLLECTIVE_CALLS(THINWIRE_NAME)
#undef THINWIRE_NAME
  EXPECT_EQ(words_of("THINWIRE_COLLECTIVES"), calls);
  std::set<std::string> ways;
  for (std::uint32_t at = 1; tw_algorithm_text(at) != nullptr; ++at) {
    ways.insert(tw_algorithm_text(at));
  }
  for (std::uint32_t at = 1; tw_coding_text(at) != nullptr; ++at) ways.insert(tw_coding_text(at));
  EXPECT_EQ(words_of("THINWIRE_ALGORITHM"), ways);
}

TEST(CollectiveSettings, AlgorithmAndCodingByTheirNames) {
  const CollectiveSettings both = with("on", "ring,per-hop");
  EXPECT_EQ(both.algorithm, static_cast<std::uint32_t>(TW_ALGORITHM_RING));
  EXPECT_EQ(both.coding, static_cast<std::uint32_t>(TW_CODING_PER_HOP));
  EXPECT_EQ(with("on", "direct").coding, static_cast<std::uint32_t>(TW_CODING_PLANNED));
}

TEST(CollectiveSettings, TextsDifferWhereSettingsDo) {
  const std::string usual = text_of(with("on"));
  EXPECT_EQ(usual, text_of(with("on")));
  EXPECT_NE(usual, text_of(with("on"), "zfp:rate=8"));
  EXPECT_NE(usual, text_of(with("on,gatherv")));
  EXPECT_NE(usual, text_of(with("on", "ring")));
  EXPECT_NE(usual, text_of(with("on", "per-hop")));
  CollectiveSettings linked = with("on");
  linked.link_bytes_per_second = 1e9;
  EXPECT_NE(usual, text_of(linked));
  setenv("THINWIRE_BCAST_ROOT", "decoded", 1);
  const CollectiveSettings decoded = with("on");
  setenv("THINWIRE_BCAST_ROOT", "keep", 1);
  EXPECT_TRUE(decoded.root_decodes);
  EXPECT_NE(usual, text_of(decoded));
  EXPECT_EQ(usual, text_of(with("on")));
  unsetenv("THINWIRE_BCAST_ROOT");
}

}  // namespace

namespace {

using Nodes = std::vector<std::int32_t>;

constexpr double kGigabit = 1e9 / 8;

TEST(Parts, PayOnSlowLinks) {
  const Nodes four{0, 0, 2, 3, 4};
  EXPECT_TRUE(pays_in_parts(0.1 * kGigabit, four));
  EXPECT_TRUE(pays_in_parts(2.5 * kGigabit, four));
  EXPECT_FALSE(pays_in_parts(10 * kGigabit, four));
}

TEST(Parts, PayLongerBetweenTwoNodes) {
  const Nodes two{0, 0, 2, 2};
  EXPECT_TRUE(pays_in_parts(10 * kGigabit, two));
  EXPECT_FALSE(pays_in_parts(25 * kGigabit, two));
}

TEST(Parts, AreOfLinksThatAreThereAndKnown) {
  EXPECT_FALSE(pays_in_parts(0, {0, 1}));
  EXPECT_FALSE(pays_in_parts(kGigabit, {3, 3, 3}));
  EXPECT_FALSE(pays_in_parts(kGigabit, {}));
}

TEST(Parts, HaveTagsThatNoOtherTransportHas) {
  EXPECT_NE(tag_of_data(0), tag_of_lengths(0));
  EXPECT_NE(tag_of_lengths(0), tag_of_answers(0));
  EXPECT_LT(std::max(tag_of_lengths(0), tag_of_answers(0)), tag_of_data(1));
  EXPECT_LE(std::max(tag_of_lengths(kLastTag), tag_of_answers(kLastTag)), 32767);
}

}  // namespace

}  // namespace thinwire::mpi
