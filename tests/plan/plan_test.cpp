#include "plan/plan.h"

#include <gtest/gtest.h>

#include <limits>

namespace thinwire::plan {
namespace {

codec::Spec spec(const char* text) { return *codec::parse_spec(text); }

Settings settings() {
  Settings settings;
  settings.threshold = 65536;
  return settings;
}

Facts facts() {
  Facts facts;
  facts.bytes = 1 << 20;
  facts.dtype = Dtype::kF32;
  facts.peer = Peer::kOtherNode;
  facts.peer_ready = true;
  return facts;
}

TEST(Plan, ForcedCompressesWhateverItCosts) {
  Settings given = settings();
  given.force = true;
  EXPECT_EQ(plan_message(spec("auto"), given, facts()).reason, Reason::kCompress);
  given.link_bytes_per_second = 1e12;
  given.cost = {1e6, 1e6, 1.01};
  const Choice choice = plan_message(spec("mpc"), given, facts());
  EXPECT_EQ(choice.reason, Reason::kCompress);
  EXPECT_GT(choice.compressed_seconds, choice.raw_seconds);
  EXPECT_EQ(choice.least_ratio, 0);
  Facts small = facts();
  small.bytes = 100;
  EXPECT_EQ(plan_message(spec("mpc"), given, small).reason, Reason::kBelowThreshold);
}

TEST(Plan, CompressesWhatTheUserNamed) {
  EXPECT_EQ(plan_message(spec("zfp:rate=8"), settings(), facts()).reason, Reason::kCompress);
}

TEST(Plan, NamesEachReasonToGoRaw) {
  const auto reason = [](const char* text, auto&& change) {
    Settings with = settings();
    Facts about = facts();
    change(with, about);
    return plan_message(spec(text), with, about).reason;
  };
  const auto nothing = [](Settings&, Facts&) {};
  EXPECT_EQ(reason("off", nothing), Reason::kOff);
  EXPECT_EQ(reason("auto", nothing), Reason::kNoLink);
  EXPECT_EQ(reason("lossless", nothing), Reason::kCompress);
  EXPECT_EQ(reason("lossless", [](auto&, Facts& f) { f.dtype = Dtype::kBytes; }), Reason::kDtype);
  EXPECT_EQ(reason("szp:allreduce-abs=1e-4", nothing), Reason::kReductionsAlone);
  EXPECT_EQ(reason("szp:abs=1e-3,allreduce-abs=1e-4", nothing), Reason::kCompress);
  EXPECT_EQ(reason("zfp:rate=8", [](auto&, Facts& f) { f.bytes = 65535; }),
            Reason::kBelowThreshold);
  EXPECT_EQ(reason("zfp:rate=8", [](auto&, Facts& f) { f.bytes = 65536; }), Reason::kCompress);
  EXPECT_EQ(reason("zfp:rate=8", [](auto&, Facts& f) { f.dtype = Dtype::kBytes; }), Reason::kDtype);
  EXPECT_EQ(reason("zfp:rate=8", [](auto&, Facts& f) { f.peer = Peer::kSameNode; }),
            Reason::kSameNode);
  EXPECT_EQ(reason("zfp:rate=8", [](auto&, Facts& f) { f.peer = Peer::kSelf; }), Reason::kSameNode);
  EXPECT_EQ(reason("zfp:rate=8",
                   [](Settings& s, Facts& f) {
                     f.peer = Peer::kSameNode;
                     s.same_node = true;
                   }),
            Reason::kCompress);
  EXPECT_EQ(reason("zfp:rate=8", [](auto&, Facts& f) { f.peer_ready = false; }),
            Reason::kPeerNotReady);
  EXPECT_EQ(reason("zfp:rate=8", [](auto&, Facts& f) { f.peer = Peer::kUnknown; }),
            Reason::kPeerNotReady);
}

// The plan does not know what auto makes of the data before it is sampled: it says from which ratio
// on it would pay, and goes raw at once if no lossless codec reaches that.
TEST(Plan, AutoAsksForARatioThatPays) {
  Settings with = settings();
  with.link_bytes_per_second = 125e6;
  with.cost = {1000e6, 1000e6, 100};  // a quarter of the raw time
  const Choice choice = plan_message(spec("auto"), with, facts());
  EXPECT_EQ(choice.reason, Reason::kCompress);
  EXPECT_DOUBLE_EQ(choice.least_ratio, 4.0 / 3);
  with.cost = {500e6, 500e6, 100};  // half of it: only a ratio above 2 would pay
  EXPECT_EQ(plan_message(spec("auto"), with, facts()).reason, Reason::kLinkFaster);
  Facts bytes = facts();
  bytes.dtype = Dtype::kBytes;
  EXPECT_EQ(plan_message(spec("auto"), with, bytes).reason, Reason::kDtype);
}

TEST(Plan, WeighsTheCodecAgainstAStatedLink) {
  Settings with = settings();
  with.link_bytes_per_second = 125e6;
  with.cost = {500e6, 500e6, 2};  // 1/250 + 1/500 + 1/500 = 8 ns a byte: no gain at all
  const Choice even = plan_message(spec("zfp:rate=16"), with, facts());
  EXPECT_EQ(even.reason, Reason::kLinkFaster);
  EXPECT_DOUBLE_EQ(even.raw_seconds, (1 << 20) / 125e6);
  EXPECT_DOUBLE_EQ(even.compressed_seconds, even.raw_seconds);
  with.cost = {501e6, 500e6, 2};
  EXPECT_EQ(plan_message(spec("zfp:rate=16"), with, facts()).reason, Reason::kCompress);
}

TEST(Plan, AnUnmeasuredCostNeverWins) {
  Settings with = settings();
  with.link_bytes_per_second = 125e6;
  for (const double speed : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    with.cost = {speed, speed, 4};
    EXPECT_EQ(plan_message(spec("zfp:rate=8"), with, facts()).reason, Reason::kLinkFaster);
  }
}

TEST(Plan, EveryReasonHasAText) {
  for (int reason = 0; reason < kReasonCount; ++reason) {
    EXPECT_STRNE(reason_text(static_cast<Reason>(reason)), "unknown reason") << reason;
  }
}

}  // namespace
}  // namespace thinwire::plan
