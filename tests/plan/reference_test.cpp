// When a reference pays.
#include "plan/collective.h"

#include <gtest/gtest.h>

#include <cmath>

namespace thinwire::plan {
namespace {

TEST(Reference, PaysByWhatTheLinkSaves) {
  // Half a byte saved on 1 Gbit/s is 4 ns.
  ReferenceFacts facts{.ordinary_share = 0.7,
                       .difference_share = 0.2,
                       .link_bytes_per_second = 1.25e8,
                       .seconds_per_byte = 3.9e-9};
  EXPECT_EQ(reference_gain(facts), 2047u);  // rounded down
  facts.seconds_per_byte = 4.1e-9;
  EXPECT_EQ(reference_gain(facts), 0u);
  facts.link_bytes_per_second = 1.25e7;
  EXPECT_GT(reference_gain(facts), 0u);
  // Not stated: what is smaller wins, as a codec that is named does.
  facts.link_bytes_per_second = 0;
  facts.seconds_per_byte = 1;
  EXPECT_GT(reference_gain(facts), 0u);
}

TEST(Reference, NeverWhereItIsNoSmallerOrNotKnown) {
  ReferenceFacts facts{
      .ordinary_share = 0.5, .difference_share = 0.495, .link_bytes_per_second = 1.25e9};
  EXPECT_EQ(reference_gain(facts), 0u) << "within what a sample may be wrong by";
  facts.difference_share = 0.9;
  EXPECT_EQ(reference_gain(facts), 0u);
  facts.difference_share = NAN;
  EXPECT_EQ(reference_gain(facts), 0u);
  facts.difference_share = 0.1;
  EXPECT_GT(reference_gain(facts), 0u);
  facts.seconds_per_byte = NAN;
  EXPECT_EQ(reference_gain(facts), 0u);
  // Data that grow under ordinary coding go raw.
  facts = {.ordinary_share = 1.2, .difference_share = 1.1};
  EXPECT_EQ(reference_gain(facts), 0u);
  facts = {.ordinary_share = 1, .difference_share = 0};
  EXPECT_EQ(reference_gain(facts), kMostGain);
}

}  // namespace
}  // namespace thinwire::plan
