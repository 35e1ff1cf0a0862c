// Parts of a communicator, whose ranks find each other over its tree.
#include <gtest/gtest.h>

#include "agree/limits.h"
#include "agree/puppet.h"

namespace {

using namespace job;

constexpr const char* kTerms = "the policy=none\n";
const Terms kSame{{"the policy", "none"}};

Options quick() {
  Options made;
  made.registration = made.connecting = 400ms;
  return made;
}

// The part of the ranks that leave the same rest, which are ranks of it in order.
CommunicatorRef open_part(Rank& of, std::uint64_t split, int parts, int ranks,
                          const Terms& terms = kSame) {
  const int color = of.rank % parts;
  const int size = (ranks - color + parts - 1) / parts;
  return of.helper->open_child(of.comm, split, color, of.rank / parts, size, 0, terms);
}

TEST(Parts, OfManySplitsInARowFindEachOther) {
  constexpr int kRanks = 23;
  Job job(kRanks);
  job.open_all(3);
  ASSERT_TRUE(job.all_reach(State::kReady));
  std::vector<CommunicatorRef> parts;
  for (std::uint64_t split = 0; split < 12; ++split) {
    for (Rank& each : job.all) {
      // In some splits the ranks of one color have no part.
      const int colors = 2 + static_cast<int>(split % 4);
      if (split % 2 == 1 && each.rank % colors == 1) continue;
      parts.push_back(open_part(each, split, colors, kRanks));
    }
  }
  for (const auto& each : parts) ASSERT_TRUE(reaches(each, State::kReady));
}

TEST(Parts, OfPartsFindEachOther) {
  Job job(16);
  job.open_all();
  std::vector<CommunicatorRef> parts, halves;
  for (Rank& each : job.all) parts.push_back(open_part(each, 0, 2, 16));
  for (Rank& each : job.all) {
    const int rank = each.rank / 2;
    halves.push_back(each.helper->open_child(parts[each.rank], 0, rank % 2, rank / 2, 4, 0, kSame));
  }
  for (const auto& each : halves) EXPECT_TRUE(reaches(each, State::kReady));
}

TEST(Parts, ThatDifferAreRawAndSayWhy) {
  Job job(9);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  std::vector<CommunicatorRef> parts;
  for (Rank& each : job.all) {
    const bool differs = each.rank == 8;
    parts.push_back(open_part(each, 0, 2, 9, {{"the policy", differs ? "other" : "none"}}));
  }
  for (Rank& each : job.all) {
    const bool even = each.rank % 2 == 0;
    ASSERT_TRUE(reaches(parts[each.rank], even ? State::kRaw : State::kReady)) << each.rank;
    if (!even) continue;
    const std::string text = parts[each.rank]->membership().text;
    EXPECT_TRUE(text.starts_with("raw: the policy is ")) << text;
  }
}

TEST(Parts, SayWhichRankIsLateAndTakeIt) {
  Options options;
  options.late = 300ms;
  Job job(7, options);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  std::vector<CommunicatorRef> parts(7);
  for (const int rank : {0, 2, 4}) parts[rank] = open_part(job.all[rank], 5, 2, 7);
  for (const int rank : {0, 2, 4}) {
    EXPECT_TRUE(eventually([&] {
      return parts[rank]->membership().text == "raw: 1 of 4 ranks lacks it, or has not come yet";
    })) << parts[rank]->membership().text;
  }
  parts[6] = open_part(job.all[6], 5, 2, 7);
  for (const int rank : {0, 2, 4, 6}) EXPECT_TRUE(reaches(parts[rank], State::kReady));
}

TEST(Parts, AreGivenUpWhenARankDoesNotCome) {
  Job job(7, quick());
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  std::vector<CommunicatorRef> parts(7);
  for (const int rank : {2, 4, 6}) parts[rank] = open_part(job.all[rank], 5, 2, 7);
  for (const int rank : {2, 4, 6}) {
    ASSERT_TRUE(reaches(parts[rank], State::kRaw));
    EXPECT_EQ(parts[rank]->membership().text, "raw: 1 of 4 ranks lacks it");
  }
  parts[0] = open_part(job.all[0], 5, 2, 7);
  EXPECT_TRUE(reaches(parts[0], State::kRaw)) << "it finds the decision";
}

// Ranks that come after one has left, whether it was between them and rank 0 or was rank 0.
TEST(Parts, FindEachOtherAfterARankHasLeft) {
  for (const int leaves : {0, 1, 20}) {
    Job job(22);
    job.open_all();
    ASSERT_TRUE(job.all_reach(State::kReady));
    std::vector<CommunicatorRef> parts(22);
    for (const int rank : {0, 6, 21}) parts[rank] = open_part(job.all[rank], 0, 3, 22);
    // It has its own part, and ends the parent at once.
    parts[leaves] = open_part(job.all[leaves], 0, 3, 22);
    job.all[leaves].comm->close();
    for (Rank& each : job.all) {
      if (each.rank % 2 == 0) std::this_thread::sleep_for(3ms);
      if (!parts[each.rank]) parts[each.rank] = open_part(each, 0, 3, 22);
    }
    for (const auto& each : parts) EXPECT_TRUE(reaches(each, State::kReady)) << leaves;
  }
}

// News sent over the parent's tree may be lost.
TEST(Parts, FindEachOtherThoughTheirParentBreaks) {
  for (int time = 0; time < 6; ++time) {
    Job job(22);
    job.open_all();
    ASSERT_TRUE(job.all_reach(State::kReady));
    std::vector<CommunicatorRef> parts(22);
    for (Rank& each : job.all) {
      parts[each.rank] = open_part(each, 0, 3, 22);
      if (each.rank == 3 * time) job.all[21 - each.rank].comm->revoke();
    }
    for (const auto& each : parts) EXPECT_TRUE(reaches(each, State::kReady)) << time;
  }
}

// The last rank, played by hand, says and hears all of it.
class Played : public testing::Test {
 protected:
  static constexpr int kRanks = 7;  // it is rank 6, below rank 1
  explicit Played() : job_(kRanks - 1, quick(), kRanks), puppet_(job_.make_id(), kRanks) {}
  void SetUp() override {
    Id id = bare_id();
    write_stamp(id, puppet_.stamp());
    for (Rank& each : job_.all) job_.open(each.rank, id);
    puppet_.join();
    ASSERT_TRUE(job_.all_reach(State::kReady));
  }
  Enrol line(std::uint32_t rank, std::uint32_t ranks) const {
    return {9, 4, kRanks - 1, rank, ranks, 0, 0, false, kTerms};
  }

  Job job_;
  Puppet puppet_;
};

TEST_F(Played, ALineGoesUpAndTheWordComesDown) {
  puppet_.parent.say(line(0, 2));
  const auto other = job_.all[2].helper->open_child(job_.all[2].comm, 9, 4, 1, 2, 0, kSame);
  const auto word = puppet_.parent.hear_a<Word>();
  ASSERT_TRUE(word);
  EXPECT_EQ(word->to, kRanks - 1);
  EXPECT_EQ(word->split, 9);
  EXPECT_EQ(word->color, 4);
  EXPECT_EQ(word->says, Says::kReady);
  ASSERT_EQ(word->table.places.size(), 2);
  // It connects to rank 1 of the part, as in any tree.
  const Secret secret = derive(puppet_.stamp().secret, 9, 4);
  Wire down = Wire::to(word->table.places[1].address, {{kVersion, secret, 0, 1}, std::nullopt});
  down.say(Join{});
  down.say(Table{{word->table.places[1]}});
  ASSERT_TRUE(down.hear_a<Up>());
  down.say(Ready{{word->table.places[0].address, word->table.places[1].address}, {0, 1}});
  EXPECT_TRUE(reaches(other, State::kReady));
}

TEST_F(Played, AWordThatARankCannotBeReachedMakesThePartRaw) {
  const auto other = job_.all[5].helper->open_child(job_.all[5].comm, 9, 4, 0, 2, 0, kSame);
  const auto third = job_.all[0].helper->open_child(job_.all[0].comm, 9, 7, 0, 2, 0, kSame);
  puppet_.parent.say(line(1, 2));
  Enrol failed = line(1, 2);
  failed.failed = true;
  failed.text = "raw: rank 1 finds no way";
  puppet_.parent.say(failed);
  const auto word = puppet_.parent.hear_a<Word>();
  ASSERT_TRUE(word);
  EXPECT_EQ(word->says, Says::kRaw);
  ASSERT_TRUE(reaches(other, State::kRaw));
  EXPECT_EQ(other->membership().text, failed.text);
  EXPECT_EQ(job_.all[5].comm->state(), State::kReady);
}

Enrol from_rank(std::uint32_t from) { return {9, 4, from, 0, 2, 0, 0, false, kTerms}; }

class Unfit : public Played, public testing::WithParamInterface<int> {};

TEST_P(Unfit, MakesTheParentBroken) {
  Enrol large = from_rank(kRanks - 1);
  large.ranks = kRanks + 1;  // more than the communicator
  const Message said[] = {from_rank(2), from_rank(0), from_rank(0xFFFFFFFF), large,
                          Word{2, 9, 4, Says::kRaw, "", {}}};
  puppet_.parent.say(said[GetParam()]);
  EXPECT_TRUE(job_.all_reach(State::kBroken));
}

INSTANTIATE_TEST_SUITE_P(LinesAndWords, Unfit, testing::Range(0, 5));

TEST_F(Played, PartsThatNobodyElseHasAreForgottenAtLast) {
  // More than are kept, each of a rank that waits for one which never comes.
  for (std::uint64_t split = 0; split < kMostMeetings + 50; ++split) {
    Enrol one = line(0, 2);
    one.split = split + 1000;
    puppet_.parent.say(one);
  }
  const auto first = job_.all[2].helper->open_child(job_.all[2].comm, 1, 1, 0, 2, 0, kSame);
  const auto second = job_.all[3].helper->open_child(job_.all[3].comm, 1, 1, 1, 2, 0, kSame);
  EXPECT_TRUE(reaches(first, State::kReady));
  EXPECT_TRUE(reaches(second, State::kReady));
}

// Who has come keeps no connection: a registrar has few, however many ranks there are.
TEST(Registrar, KeepsNoConnectionsOfThoseThatHaveCome) {
  Job job(30);
  const Id id = job.make_id(29);
  for (Rank& each : job.all) {
    if (each.rank != 7) job.open(each.rank, id);
  }
  EXPECT_TRUE(eventually([&] { return job.all[29].helper->connections() == 1; }, 5s))
      << job.all[29].helper->connections();
  EXPECT_TRUE(eventually([&] { return job.all[3].helper->connections() == 0; }, 5s));
  job.open(7, id);
  EXPECT_TRUE(job.all_reach(State::kReady));
}

TEST(Registrar, IsToldByARankThatCannotBeConnected) {
  Job job(5, quick(), 6);
  const Id id = job.make_id();
  Puppet puppet(id, 6);
  for (Rank& each : job.all) job.open(each.rank, id);
  puppet.registrar.say(puppet.registration());
  ASSERT_TRUE(puppet.registrar.hear_a<Waiting>());
  EXPECT_FALSE(puppet.registrar.hear()) << "its connection is ended";
  puppet.parent = puppet.accept();
  puppet.come().say(Failed{{}, "raw: rank 5 has no room"});
  ASSERT_TRUE(job.all_reach(State::kRaw));
  for (Rank& each : job.all) EXPECT_EQ(each.comm->membership().text, "raw: rank 5 has no room");
  Wire called = puppet.accept();
  const auto call = called.hear_a<Call>();
  ASSERT_TRUE(call);
  EXPECT_EQ(call->says, Says::kRaw);
  EXPECT_EQ(call->text, "raw: rank 5 has no room");
}

// A call with the secret of a communicator that is ready, or of none, changes nothing.
TEST(Registrar, CallsThatNobodyWaitsForAreIgnored) {
  Job job(3, quick(), 4);
  const Id id = job.make_id();
  Puppet puppet(id, 4);
  for (Rank& each : job.all) job.open(each.rank, id);
  puppet.join();
  ASSERT_TRUE(job.all_reach(State::kReady));
  Introduction as = puppet.as(0);
  Wire::to(puppet.stamp().registrar, as).say(Call{{}, Says::kRaw, "raw: no"});
  as.head.secret[2] ^= std::byte{1};
  EXPECT_TRUE(Wire::to(puppet.stamp().registrar, as).is_shut());
  std::this_thread::sleep_for(100ms);
  EXPECT_TRUE(job.all_reach(State::kReady));
}

}  // namespace
