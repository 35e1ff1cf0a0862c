// Tests of the capabilities that ranks publish: read back as written, and refused if they are
// something else; and of the channels to one peer.
#include <gtest/gtest.h>

#include <algorithm>

#include "shim/mpi/choose/peers.h"
#include "shim/mpi/job/job.h"

namespace thinwire::mpi {
namespace {

Capabilities full_capabilities() {
  Capabilities capabilities;
  capabilities.format_version = 3;
  capabilities.inspect_threshold = 16384;
  capabilities.sends_compressed = true;
  capabilities.sends_same_node = false;
  capabilities.reports = true;
  capabilities.codecs = {0, 1, 65535};
  capabilities.collectives = "codec zfp:rate=16, link 1.25e+09 B/s, \"_%\"";
  return capabilities;
}

void expect_equal(const Capabilities& one, const Capabilities& other) {
  EXPECT_EQ(one.format_version, other.format_version);
  EXPECT_EQ(one.inspect_threshold, other.inspect_threshold);
  EXPECT_EQ(one.sends_compressed, other.sends_compressed);
  EXPECT_EQ(one.sends_same_node, other.sends_same_node);
  EXPECT_EQ(one.reports, other.reports);
  EXPECT_EQ(one.codecs, other.codecs);
  EXPECT_EQ(one.collectives, other.collectives);
}

TEST(Capabilities, ReadsBackWhatItWrote) {
  for (int flags = 0; flags < 8; ++flags) {
    Capabilities capabilities = full_capabilities();
    capabilities.sends_compressed = flags & 1;
    capabilities.sends_same_node = flags & 2;
    capabilities.reports = flags & 4;
    const auto read = Capabilities::parse(capabilities.text());
    ASSERT_TRUE(read);
    expect_equal(*read, capabilities);
  }
}

TEST(Capabilities, SettingsOfCollectivesAreOneWordForEveryLauncher) {
  const std::string text = full_capabilities().text();
  EXPECT_EQ(text.find_first_of("=_"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), ' '), 6);
  Capabilities none = full_capabilities();
  none.collectives = "";
  ASSERT_TRUE(Capabilities::parse(none.text()));
  EXPECT_EQ(Capabilities::parse(none.text())->collectives, "");
}

TEST(Capabilities, OfAnEarlierVersionSaysNothingOfCollectives) {
  const auto read = Capabilities::parse("3 16384 1 0 1 0,1,65535");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->collectives, "");
}

TEST(Capabilities, HoldsTheLargestNumbers) {
  Capabilities capabilities = full_capabilities();
  capabilities.format_version = UINT32_MAX;
  capabilities.inspect_threshold = UINT64_MAX;
  const auto read = Capabilities::parse(capabilities.text());
  ASSERT_TRUE(read);
  expect_equal(*read, capabilities);
}

TEST(Capabilities, AllowsWordsOfALaterVersion) {
  const auto read = Capabilities::parse(full_capabilities().text() + " more words 7");
  ASSERT_TRUE(read);
  expect_equal(*read, full_capabilities());
}

TEST(Capabilities, RefusesWhatIsNone) {
  for (const char* text : {"", " ", "1", "1 19", "1 19 1 1 1", "x 19 1 1 1 0", "1 19 2 1 1 0",
                           "99999999999999999999 19 1 1 1 0", "thinwire", "1,19,1,1,1,0"}) {
    EXPECT_FALSE(Capabilities::parse(text)) << text;
  }
}

TEST(Capabilities, CutAtAnyPlaceIsRefusedOrKnowsFewerCodecs) {
  const std::string text = full_capabilities().text();
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto read = Capabilities::parse(text.substr(0, length));
    if (!read) continue;
    EXPECT_EQ(read->format_version, 3u);
    EXPECT_LE(read->codecs.size(), full_capabilities().codecs.size());
  }
}

// Never published: then nothing is known of anybody, and asking is harmless.
TEST(Job, WithoutALauncherKnowsNobody) {
  const Job job;
  EXPECT_FALSE(job.reachable());
  EXPECT_FALSE(job.on_this_node(0));
  EXPECT_TRUE(job.capabilities_of(0).known);
  EXPECT_FALSE(job.capabilities_of(0).capabilities);
  EXPECT_EQ(job.ranks_on_this_node(), 0);
}

}  // namespace

// Channels to one peer: what one dtype or codec declines says nothing of another.
namespace {

TEST(Channels, DtypesAndCodecsHaveTheirOwn) {
  Channels channels;
  for (int message = 0; message < 2; ++message) {
    ASSERT_NE(channels.of(TW_F64, 0).next(), choose::Effort::kSkip);
    channels.of(TW_F64, 0).declined();
  }
  EXPECT_EQ(channels.of(TW_F32, 0).declines(), 0U);
  EXPECT_EQ(channels.of(TW_F64, 1).declines(), 0U);
  EXPECT_EQ(channels.of(TW_F64, 0).declines(), 2U);
  channels.doubt();
  EXPECT_EQ(channels.of(TW_BF16, 0).next(), choose::Effort::kSampleFirst);
}

}  // namespace

}  // namespace thinwire::mpi
