// Who has the library: found out without anybody's waiting for it.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "agree/job.h"

namespace {

using namespace job;

Options quick() {
  Options made;
  made.registration = made.connecting = 300ms;
  return made;
}

class Membership : public testing::TestWithParam<int> {};

TEST_P(Membership, AllRanksHaveIt) {
  const int ranks = GetParam();
  Job job(ranks);
  job.open_all(ranks - 1);
  ASSERT_TRUE(job.all_reach(State::kReady));
  for (Rank& each : job.all) {
    EXPECT_EQ(each.comm->membership().text, "all " + std::to_string(ranks) + " ranks have it");
  }
}

INSTANTIATE_TEST_SUITE_P(OfRanks, Membership, testing::Values(2, 3, 4, 5, 6, 16, 17, 40));

TEST(Nodes, AreKnownToAllRanksAndTheirParts) {
  const std::vector<std::uint64_t> named{70, 8, 70, UINT64_MAX, 8, 8, 0};
  const std::vector<std::uint32_t> numbers{0, 1, 0, 2, 1, 1, 3};
  Job job(7, {}, 0, named);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  for (Rank& each : job.all) EXPECT_EQ(each.comm->nodes(), numbers);
  // The last four in another order.
  std::vector<CommunicatorRef> parts;
  for (int rank = 3; rank < 7; ++rank) {
    Rank& of = job.all[static_cast<std::size_t>(rank)];
    parts.push_back(of.helper->open_child(of.comm, 0, 1, 6 - rank, 4));
  }
  for (const auto& each : parts) {
    ASSERT_TRUE(reaches(each, State::kReady));
    EXPECT_EQ(each->nodes(), (std::vector<std::uint32_t>{0, 1, 1, 2}));
  }
}

// The numbers of all nodes that each of some ranks is told.
std::vector<std::uint32_t> nodes_of(const std::vector<std::uint64_t>& hosts,
                                    const std::vector<std::uint64_t>& domains) {
  Job job(static_cast<int>(hosts.size()), {}, 0, hosts, domains);
  job.open_all();
  if (!job.all_reach(State::kReady)) return {};
  for (Rank& each : job.all) EXPECT_EQ(each.comm->nodes(), job.all[0].comm->nodes());
  return job.all[0].comm->nodes();
}

using Numbers = std::vector<std::uint32_t>;

TEST(Nodes, AreHostsThatNvlinkJoins) {
  EXPECT_EQ(nodes_of({1, 1, 2, 3, 3}, {9, 9, 9, 9, 9}), (Numbers{0, 0, 0, 0, 0}));
  EXPECT_EQ(nodes_of({1, 2, 3, 4}, {9, 8, 9, 8}), (Numbers{0, 1, 0, 1}));
  // NCCL parts a host, if a domain goes through it.
  EXPECT_EQ(nodes_of({1, 1, 2, 2}, {9, 8, 9, 8}), (Numbers{0, 1, 0, 1}));
}

TEST(Nodes, AreHostsIfARankIsInNoDomain) {
  EXPECT_EQ(nodes_of({1, 1, 2, 3, 3}, {9, 9, 9, 0, 9}), (Numbers{0, 0, 1, 2, 2}));
}

TEST(Nodes, AreNotPartedOnOneHost) {
  EXPECT_EQ(nodes_of({1, 1, 1}, {9, 8, 9}), (Numbers{0, 0, 0}));
}

TEST(Nodes, OfPartsGoByDomainsThatTheyHave) {
  // With rank 4 hosts are nodes; the first four alone are one node.
  const std::vector<std::uint64_t> domains{9, 9, 9, 9, 0};
  Job job(5, {}, 0, {1, 1, 2, 2, 3}, domains);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  EXPECT_EQ(job.all[2].comm->nodes(), (Numbers{0, 0, 1, 1, 2}));
  std::vector<CommunicatorRef> parts;
  for (int rank = 0; rank < 4; ++rank) {
    Rank& of = job.all[static_cast<std::size_t>(rank)];
    parts.push_back(of.helper->open_child(of.comm, 0, 1, rank, 4, 0, {}, {}, job.domain_of(rank)));
  }
  for (const auto& each : parts) {
    ASSERT_TRUE(reaches(each, State::kReady));
    EXPECT_EQ(each->nodes(), (Numbers{0, 0, 0, 0}));
  }
}

TEST(PresenceOfOne, IsRaw) {
  Job job(1);
  job.open_all();
  EXPECT_EQ(job.all[0].comm->membership().text, "raw: one rank");
}

TEST(Registrar, NeedNotBeARank) {
  Helper maker{{}};
  Id id = bare_id();
  ASSERT_TRUE(maker.stamp(id));
  Job job(5);
  for (Rank& each : job.all) job.open(each.rank, id);
  EXPECT_TRUE(job.all_reach(State::kReady));
}

TEST(Registrar, ListensWhereNcclDoes) {
  Helper maker{{}};
  Id id = bare_id(AF_INET6);
  if (!maker.stamp(id)) GTEST_SKIP() << "no IPv6 on this machine";
  Job job(6);
  for (Rank& each : job.all) job.open(each.rank, id);
  EXPECT_TRUE(job.all_reach(State::kReady));
}

TEST(Registrar, MayHaveAllRanksInItsProcess) {
  Helper helper{{}};
  Id id = bare_id();
  ASSERT_TRUE(helper.stamp(id));
  std::vector<CommunicatorRef> comms;
  for (int rank = 0; rank < 7; ++rank) comms.push_back(helper.open(id, rank, 7, {}));
  for (const auto& each : comms) EXPECT_TRUE(reaches(each, State::kReady));
}

TEST(Registrar, TellsOnceThatARankLacksIt) {
  std::atomic<int> told{0};
  Options options = quick();
  options.tell = [&](const std::string& text) {
    EXPECT_EQ(text, "raw: 1 of 4 ranks lacks it");
    ++told;
  };
  Job job(4, options);
  for (int times = 0; times < 2; ++times) {
    const Id id = job.make_id(1);
    for (int rank : {0, 1, 3}) job.open(rank, id);
    ASSERT_TRUE(job.all_reach(State::kRaw));
    for (int rank : {0, 1, 3}) {
      EXPECT_EQ(job.all[rank].comm->membership().text, "raw: 1 of 4 ranks lacks it");
    }
    // It comes after all, and finds the decision.
    job.open(2, id);
    ASSERT_TRUE(reaches(job.all[2].comm, State::kRaw));
    EXPECT_EQ(job.all[2].comm->membership().text, "raw: 1 of 4 ranks lacks it");
  }
  EXPECT_EQ(told, 1);
}

TEST(Registrar, SaysOnceThatARankIsLateAndTakesIt) {
  std::atomic<int> told{0};
  const std::string text = "raw: 1 of 4 ranks lacks it, or has not come yet";
  Options options;
  options.late = 300ms;
  options.tell = [&](const std::string& said) {
    EXPECT_EQ(said, text);
    ++told;
  };
  Job job(4, options);
  const Id id = job.make_id(1);
  for (int rank : {0, 1}) job.open(rank, id);
  std::this_thread::sleep_for(200ms);
  job.open(3, id);
  const auto says = [&](int rank) {
    return eventually([&] { return job.all[rank].comm->membership().text == text; });
  };
  for (int rank : {0, 1, 3}) EXPECT_TRUE(says(rank)) << job.all[rank].comm->membership().text;
  EXPECT_EQ(job.all[3].comm->state(), State::kForming);
  job.open(2, id);
  EXPECT_TRUE(job.all_reach(State::kReady));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(job.all[1].comm->membership().text, "all 4 ranks have it");
}

TEST(Registrar, WaitsForALateRank) {
  Job job(5);
  const Id id = job.make_id();
  for (int rank : {0, 1, 2, 4}) job.open(rank, id);
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(job.all[1].comm->membership().state, State::kForming);
  EXPECT_EQ(job.all[1].comm->collectives().value(3, 9).value.capacity, 0);
  job.open(3, id);
  EXPECT_TRUE(job.all_reach(State::kReady));
}

TEST(Registrar, NamesWhatDiffers) {
  Job job(3, quick());
  const Id id = job.make_id();
  job.open(0, id, {{"codec", "lorenzo"}, {"threshold", "65536"}});
  ASSERT_TRUE(eventually([&] { return job.all[0].comm != nullptr; }));
  std::this_thread::sleep_for(50ms);
  job.open(1, id, {{"codec", "lorenzo"}, {"threshold", "1024"}});
  ASSERT_TRUE(reaches(job.all[1].comm, State::kRaw));
  job.open(2, id);
  ASSERT_TRUE(job.all_reach(State::kRaw));
  for (Rank& each : job.all) {
    EXPECT_EQ(each.comm->membership().text, "raw: threshold is 65536 on rank 0 and 1024 on rank 1");
  }
}

TEST(Registrar, ThatHasGoneLeavesRanksRaw) {
  Job job(2, quick());
  const Id id = job.make_id(1);
  job.open(0, id);
  std::this_thread::sleep_for(50ms);
  job.all[1].helper.reset();
  ASSERT_TRUE(reaches(job.all[0].comm, State::kRaw));
  EXPECT_EQ(job.all[0].comm->membership().text,
            "raw: the process in which the ranks meet has ended before all had come");
}

TEST(Id, WithoutRoomOrAddressStaysAsItIs) {
  Helper helper{{}};
  Id full = bare_id(), other = bare_id();
  full[100] = std::byte{1};
  other[8] = std::byte{77};  // an address family that nobody knows
  for (Id* each : {&full, &other}) {
    const Id before = *each;
    EXPECT_FALSE(helper.stamp(*each));
    EXPECT_EQ(*each, before);
    EXPECT_EQ(helper.open(*each, 0, 2, {})->membership().state, State::kRaw);
  }
}

TEST(Id, KeepsNcclsPartAndHoldsAgainstDamage) {
  Helper helper{{}};
  Id id = bare_id();
  const Id before = id;
  ASSERT_TRUE(helper.stamp(id));
  EXPECT_TRUE(std::equal(id.begin(), id.begin() + 72, before.begin()));
  EXPECT_TRUE(is_stamped(id));
  for (std::size_t at = 72; at < kIdBytes; ++at) {
    Id damaged = id;
    damaged[at] ^= std::byte{0x20};
    EXPECT_FALSE(is_stamped(damaged)) << at;
  }
}

TEST(Children, FormTreesOfTheirOwn) {
  Job job(9);
  job.open_all(4);
  ASSERT_TRUE(job.all_reach(State::kReady));
  std::vector<CommunicatorRef> children(9);
  for (Rank& each : job.all) {
    const int color = each.rank % 2;
    children[each.rank] = each.helper->open_child(each.comm, 0, color, each.rank / 2, 5 - color);
  }
  for (const auto& each : children) ASSERT_TRUE(reaches(each, State::kReady));
  // Children of a child, which is closed while they form.
  std::vector<CommunicatorRef> again;
  for (int rank : {0, 2, 4, 6, 8}) {
    again.push_back(job.all[rank].helper->open_child(children[rank], 3, 7, 4 - rank / 2, 5));
    children[rank]->close();
  }
  for (const auto& each : again) EXPECT_TRUE(reaches(each, State::kReady));
}

TEST(Children, OfAParentThatStillFormsWait) {
  Job job(3);
  const Id id = job.make_id();
  job.open(0, id);
  job.open(1, id);
  const auto first = job.all[0].helper->open_child(job.all[0].comm, 0, 0, 0, 2);
  const auto second = job.all[1].helper->open_child(job.all[1].comm, 0, 0, 1, 2);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(first->membership().state, State::kForming);
  job.open(2, id);
  EXPECT_TRUE(reaches(first, State::kReady));
  EXPECT_TRUE(reaches(second, State::kReady));
}

// As programs do that need the parent for its parts alone.
TEST(Children, OfAParentThatEndsWhileItForms) {
  Job job(6);
  const Id id = job.make_id();
  std::vector<CommunicatorRef> parts;
  const auto open = [&](int rank) {
    job.open(rank, id);
    Rank& each = job.all[static_cast<std::size_t>(rank)];
    parts.push_back(each.helper->open_child(each.comm, 0, rank % 2, rank / 2, 3));
    each.comm.reset();
  };
  for (int rank = 0; rank < 5; ++rank) open(rank);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(parts[0]->membership().state, State::kForming);
  open(5);
  for (const auto& each : parts) EXPECT_TRUE(reaches(each, State::kReady));
  // The parent is gone: what is left are the connections of the parts.
  EXPECT_TRUE(eventually([&] { return job.all[5].helper->connections() == 1; }));
}

// The ranks that are left of a communicator that has lost one.
TEST(Children, OfABrokenParentFindEachOther) {
  Job job(5);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  job.all[3].comm->abort();
  job.all[3].comm.reset();
  std::vector<CommunicatorRef> left;
  for (int rank : {0, 1, 2, 4}) {
    Rank& each = job.all[rank];
    if (rank % 2 == 0) {
      ASSERT_TRUE(reaches(each.comm, State::kBroken));
    } else {
      each.comm->revoke();
    }
    const int place = rank - (rank > 3 ? 1 : 0);
    left.push_back(each.helper->open_child(each.comm, 77, INT32_MIN, place, 4));
  }
  for (const auto& each : left) EXPECT_TRUE(reaches(each, State::kReady));
}

// They meet with the first one that is left, if it is one of those that all know.
TEST(Children, FindEachOtherWithoutRankZero) {
  Job job(7);
  job.open_all(2);
  ASSERT_TRUE(job.all_reach(State::kReady));
  job.all[0].comm->abort();
  const auto open_from = [&](int first, std::uint64_t split) {
    std::vector<CommunicatorRef> left;
    for (int rank = first; rank < 7; ++rank) {
      Rank& each = job.all[static_cast<std::size_t>(rank)];
      left.push_back(each.helper->open_child(each.comm, split, 5, rank - first, 7 - first, first));
    }
    return left;
  };
  for (const auto& each : open_from(1, 8)) EXPECT_TRUE(reaches(each, State::kReady));
  for (const auto& each : open_from(3, 9)) EXPECT_TRUE(reaches(each, State::kReady));
  for (const auto& each : open_from(4, 10)) {
    ASSERT_TRUE(reaches(each, State::kRaw));
    EXPECT_EQ(each->membership().text, "raw: it has lost those who know it");
  }
}

TEST(Communicators, ThatAreRevokedReleaseWhoWaits) {
  Job job(2);
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  std::thread revoker([&] {
    std::this_thread::sleep_for(20ms);
    job.all[1].comm->revoke();
  });
  std::array<std::byte, 8> into{};
  const Taken taken = job.all[1].comm->take({.from = 0, .call = 1}, into, 20s);
  revoker.join();
  EXPECT_EQ(taken.outcome, Outcome::kAborted);
  EXPECT_TRUE(reaches(job.all[0].comm, State::kBroken));
  EXPECT_NE(job.all[0].comm->membership().text.find("rank 1 has revoked it"), std::string::npos);
}

TEST(Children, OfARawParentAreRaw) {
  Job job(2, quick());
  const Id id = job.make_id();
  job.open(0, id);
  const auto child = job.all[0].helper->open_child(job.all[0].comm, 0, 0, 0, 2);
  ASSERT_TRUE(reaches(child, State::kRaw));
  EXPECT_EQ(child->membership().text, "raw: 1 of 2 ranks lacks it");
}

// A rank that is new finds those of the parent by an id of theirs.
TEST(Growth, RanksThatAreNewFindTheOthers) {
  const Terms terms{{"codec", "lorenzo"}};
  Job job(3);
  Id early = bare_id();
  job.open_all();
  ASSERT_TRUE(job.all_reach(State::kReady));
  Helper added({});
  for (std::uint64_t growth = 0; growth < 2; ++growth) {
    Id id = bare_id();
    ASSERT_TRUE(job.all[1].helper->stamp_part(id, job.all[1].comm, growth, -5));
    std::vector<CommunicatorRef> four{added.open(id, 3, 4, growth == 0 ? terms : Terms{})};
    for (Rank& each : job.all) {
      four.push_back(each.helper->open_child(each.comm, growth, -5, each.rank, 4, 0, terms));
    }
    // The second time the new rank differs.
    for (const CommunicatorRef& each : four) {
      EXPECT_TRUE(reaches(each, growth == 0 ? State::kReady : State::kRaw));
    }
  }
  job.all[1].comm->close();
  const auto lone = job.all[1].helper->open(bare_id(), 0, 2, terms);
  EXPECT_FALSE(job.all[1].helper->stamp_part(early, lone, 0, -5)) << "of a parent that is raw";
}

// ---- Who waits until it is known ----

TEST(Waiting, EndsForAllRanksAlike) {
  Job job(5);
  const Id id = job.make_id();
  std::atomic<int> ready{0};
  job.run([&](Rank& each) {
    std::this_thread::sleep_for(20ms * each.rank);
    job.open(each.rank, id);
    EXPECT_EQ(each.comm->wait_until_known(), Outcome::kKnown);
    ready += each.comm->state() == State::kReady ? 1 : 0;
  });
  EXPECT_EQ(ready, 5);
}

TEST(Waiting, EndsWhereARankDoesNotCome) {
  Job job(3, quick(), 4);
  const Id id = job.make_id();
  job.run([&](Rank& each) {
    job.open(each.rank, id);
    EXPECT_EQ(each.comm->wait_until_known(), Outcome::kKnown);
    EXPECT_EQ(each.comm->state(), State::kRaw);
  });
}

TEST(Waiting, EndsWithAnAbort) {
  Job job(1, {}, 2);
  job.open_all();
  const CommunicatorRef comm = job.all[0].comm;
  std::thread waits([&] { EXPECT_EQ(comm->wait_until_known(), Outcome::kAborted); });
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(comm->state(), State::kForming);
  comm->abort();
  waits.join();
}

}  // namespace
