// What ranks publish of themselves: read back as written, and refused where it is something else.
#include <gtest/gtest.h>

#include <algorithm>

#include "peers/job.h"

namespace thinwire::mpi {
namespace {

Card full_card() {
  Card card;
  card.format_version = 3;
  card.hook_threshold = 16384;
  card.sends_compressed = true;
  card.sends_same_node = false;
  card.reports = true;
  card.codecs = {0, 1, 65535};
  card.collectives = "codec zfp:rate=16, link 1.25e+09 B/s, \"_%\"";
  return card;
}

void expect_equal(const Card& one, const Card& other) {
  EXPECT_EQ(one.format_version, other.format_version);
  EXPECT_EQ(one.hook_threshold, other.hook_threshold);
  EXPECT_EQ(one.sends_compressed, other.sends_compressed);
  EXPECT_EQ(one.sends_same_node, other.sends_same_node);
  EXPECT_EQ(one.reports, other.reports);
  EXPECT_EQ(one.codecs, other.codecs);
  EXPECT_EQ(one.collectives, other.collectives);
}

TEST(Card, ReadsBackWhatItWrote) {
  for (int flags = 0; flags < 8; ++flags) {
    Card card = full_card();
    card.sends_compressed = flags & 1;
    card.sends_same_node = flags & 2;
    card.reports = flags & 4;
    const auto read = Card::parse(card.text());
    ASSERT_TRUE(read);
    expect_equal(*read, card);
  }
}

TEST(Card, SettingsOfCollectivesAreOneWordForEveryLauncher) {
  const std::string text = full_card().text();
  EXPECT_EQ(text.find_first_of("=_"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), ' '), 6);
  Card none = full_card();
  none.collectives = "";
  ASSERT_TRUE(Card::parse(none.text()));
  EXPECT_EQ(Card::parse(none.text())->collectives, "");
}

TEST(Card, OfAnEarlierVersionSaysNothingOfCollectives) {
  const auto read = Card::parse("3 16384 1 0 1 0,1,65535");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->collectives, "");
}

TEST(Card, HoldsTheLargestNumbers) {
  Card card = full_card();
  card.format_version = UINT32_MAX;
  card.hook_threshold = UINT64_MAX;
  const auto read = Card::parse(card.text());
  ASSERT_TRUE(read);
  expect_equal(*read, card);
}

TEST(Card, AllowsWordsOfALaterVersion) {
  const auto read = Card::parse(full_card().text() + " more words 7");
  ASSERT_TRUE(read);
  expect_equal(*read, full_card());
}

TEST(Card, RefusesWhatIsNoCard) {
  for (const char* text : {"", " ", "1", "1 19", "1 19 1 1 1", "x 19 1 1 1 0", "1 19 2 1 1 0",
                           "99999999999999999999 19 1 1 1 0", "thinwire", "1,19,1,1,1,0"}) {
    EXPECT_FALSE(Card::parse(text)) << text;
  }
}

TEST(Card, CutAtAnyPlaceIsRefusedOrKnowsFewerCodecs) {
  const std::string text = full_card().text();
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto read = Card::parse(text.substr(0, length));
    if (!read) continue;
    EXPECT_EQ(read->format_version, 3u);
    EXPECT_LE(read->codecs.size(), full_card().codecs.size());
  }
}

// Never published: then nothing is known of anybody, and asking is harmless.
TEST(Job, WithoutALauncherKnowsNobody) {
  const Job job;
  EXPECT_FALSE(job.reachable());
  EXPECT_FALSE(job.on_this_node(0));
  EXPECT_TRUE(job.card_of(0).known);
  EXPECT_FALSE(job.card_of(0).card);
  EXPECT_EQ(job.ranks_on_this_node(), 0);
}

}  // namespace
}  // namespace thinwire::mpi
