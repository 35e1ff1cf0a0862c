// Communicators beside each other that decide together: which are siblings, and that their ranks
// have the same values from the same calls on.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "agree/siblings.h"
#include "job.h"

namespace {

using namespace job;

constexpr std::uint64_t kKey = kJoined | 3;
constexpr int kNoColor = -1;

// Ranks with a communicator of all, and others beside it.
class Mesh {
 public:
  explicit Mesh(int ranks, const std::vector<std::uint64_t>& hosts = {})
      : job(ranks, {}, 0, hosts), kindred{static_cast<std::uint32_t>(ranks), 0, 0} {}

  void open_world() {
    const Id id = job.make_id();
    for (Rank& each : job.all) {
      each.comm = each.helper->open(id, each.rank, static_cast<int>(job.all.size()), {}, kindred);
    }
  }
  // Each rank in the communicator of its color, in the order of ranks.
  void split(std::uint64_t number, const std::vector<int>& colors) {
    std::map<int, int> sizes, places;
    for (const int color : colors) ++sizes[color];
    for (Rank& each : job.all) {
      const int color = colors[static_cast<std::size_t>(each.rank)];
      if (color == kNoColor) {
        each.helper->leave_out(each.comm, number);
      } else {
        parts[each.rank] = each.helper->open_child(each.comm, number, color, places[color]++,
                                                   sizes[color], 0, {}, kindred);
      }
    }
  }
  // The same, each by an id of its own.
  void open_by_id(const std::vector<int>& colors) {
    std::map<int, int> sizes, places;
    std::map<int, Id> ids;
    for (const int color : colors) ++sizes[color];
    for (Rank& each : job.all) {
      const int color = colors[static_cast<std::size_t>(each.rank)];
      if (color == kNoColor) continue;
      if (!ids.contains(color)) ids[color] = job.make_id(each.rank);
      parts[each.rank] = each.helper->open(ids[color], places[color]++, sizes[color], {}, kindred);
    }
  }

  bool all_know() {
    return eventually([&] {
      return std::ranges::all_of(parts,
                                 [](const auto& each) { return each.second->knows_siblings(); });
    });
  }
  bool nobody_knows() {
    for (const auto& [rank, part] : parts) {
      if (!reaches(part, State::kReady)) return false;
    }
    std::this_thread::sleep_for(300ms);
    return std::ranges::none_of(parts,
                                [](const auto& each) { return each.second->knows_siblings(); });
  }
  void offer(int rank, const Offer& offer) { parts[rank]->collectives().offer(kKey, offer); }
  // The value of the rank's next call.
  Value next(int rank) { return parts[rank]->collectives().value(calls[rank]++, kKey).value; }
  // The rank makes calls until one is as wanted; the number of it.
  template <typename Wanted>
  std::optional<std::uint64_t> first(int rank, Wanted wanted) {
    const bool found = eventually([&] { return wanted(next(rank)); }, 10s);
    return found ? std::optional(calls[rank] - 1) : std::nullopt;
  }
  std::optional<std::uint64_t> first_coded(int rank) {
    return first(rank, [](const Value& value) { return value.capacity != 0; });
  }

  Job job;
  Kindred kindred;  // of what is opened next
  std::map<int, CommunicatorRef> parts;
  std::map<int, std::uint64_t> calls;  // of each rank, so far
};

// Helpers have told each other what there was to tell.
void let_pass() { std::this_thread::sleep_for(200ms); }

void expect_together(Mesh& mesh) {
  ASSERT_TRUE(mesh.all_know());
  mesh.offer(0, {.needed = 200});
  mesh.offer(2, {.needed = 200});
  let_pass();
  EXPECT_EQ(mesh.next(0).reason, kUndecided) << "before its siblings";
  for (int call = 0; call < 500; ++call) mesh.next(1);
  mesh.offer(1, {.needed = 300});
  mesh.offer(3, {.needed = 100});
  const auto first = mesh.first_coded(0);
  ASSERT_TRUE(first);
  EXPECT_GT(*first, 500);
  for (int rank = 0; rank < 4; ++rank) {
    if (rank != 0) {
      EXPECT_EQ(mesh.first_coded(rank), first) << rank;
    }
    EXPECT_EQ(mesh.next(rank).capacity, 310) << "the largest need of all";
  }
}

TEST(Siblings, AreThePartsOfASplit) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.split(0, {0, 1, 0, 1});
  expect_together(mesh);
}

TEST(Siblings, AreMadeByIdsAsTheSameOfTheirKind) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.open_by_id({0, 1, 0, 1});
  expect_together(mesh);
}

TEST(Siblings, MayBeThereBeforeTheCommunicatorOfAll) {
  Mesh mesh(4);
  mesh.open_by_id({0, 1, 0, 1});
  ASSERT_TRUE(mesh.nobody_knows());
  mesh.open_world();
  expect_together(mesh);
}

// Two stages of a pipeline, whose groups make other calls than those of the other.
TEST(Siblings, AreAsManyOfOneKindAsIsSaid) {
  Mesh mesh(8);
  mesh.open_world();
  const std::vector<int> stages[] = {{0, 1, 0, 1, kNoColor, kNoColor, kNoColor, kNoColor},
                                     {kNoColor, kNoColor, kNoColor, kNoColor, 2, 3, 2, 3}};
  for (std::uint64_t stage = 0; stage < 2; ++stage) {
    mesh.kindred.kind = 100 + stage;
    mesh.kindred.siblings = 2;
    mesh.open_by_id(stages[stage]);
  }
  expect_together(mesh);  // without an offer of the other stage's
}

TEST(Siblings, OfASplitAreAsManyOfOneKindAsIsSaid) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.kindred.kind = 100;
  mesh.kindred.siblings = 2;
  mesh.split(0, {0, 1, 0, 1});
  expect_together(mesh);
}

TEST(Siblings, AreNobodyWhereMoreAreOfAKindThanIsSaid) {
  Mesh mesh(6);
  mesh.open_world();
  mesh.kindred.kind = 100;
  mesh.kindred.siblings = 2;
  mesh.open_by_id({0, 1, 2, 0, 1, 2});
  EXPECT_TRUE(mesh.nobody_knows());
}

TEST(Siblings, AreNobodyWhereFewerAreOfAKindThanIsSaid) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.kindred.kind = 100;
  mesh.kindred.siblings = 3;
  mesh.open_by_id({0, 1, 0, 1});
  EXPECT_TRUE(mesh.nobody_knows());
}

// One that decides alone leaves its split, as if it had been left out, to the kinds.
TEST(Siblings, DoNotWaitForOneThatHasNone) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.kindred.siblings = 1;
  mesh.open_by_id({0, kNoColor, 0, kNoColor});
  const auto alone = mesh.parts;
  mesh.kindred.siblings = 0;
  mesh.split(0, {0, 1, 0, 1});
  EXPECT_TRUE(mesh.all_know());
  for (const auto& [rank, part] : alone) EXPECT_FALSE(part->knows_siblings()) << rank;
}

// As torch makes groups of a communicator that it has, one by one.
TEST(Siblings, AreMadeBySplitsThatLeaveRanksOut) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.split(0, {0, kNoColor, 0, kNoColor});
  ASSERT_TRUE(mesh.nobody_knows());
  mesh.split(1, {kNoColor, 0, kNoColor, 0});
  expect_together(mesh);
}

TEST(Siblings, OfPartsOfPartsAreInAllOfThem) {
  Mesh mesh(8);
  mesh.open_world();
  mesh.split(0, {0, 0, 0, 0, 1, 1, 1, 1});
  ASSERT_TRUE(mesh.all_know());
  const auto halves = mesh.parts;
  const std::vector<int> places{0, 0, 1, 1, 0, 0, 1, 1};
  for (Rank& each : mesh.job.all) {
    const auto rank = static_cast<std::size_t>(each.rank);
    mesh.parts[each.rank] = each.helper->open_child(halves.at(each.rank), 0, each.rank % 2,
                                                    places[rank], 2, 0, {}, mesh.kindred);
  }
  ASSERT_TRUE(mesh.all_know());
  for (int rank = 0; rank < 7; ++rank) mesh.offer(rank, {.needed = 200});
  let_pass();
  EXPECT_EQ(mesh.next(0).reason, kUndecided);
  mesh.offer(7, {.needed = 200});
  const auto first = mesh.first_coded(0);
  ASSERT_TRUE(first);
  for (int rank = 1; rank < 8; ++rank) EXPECT_EQ(mesh.first_coded(rank), first) << rank;
}

// Nothing else of theirs waits for that.
TEST(Siblings, AreNotOfAGroupThatIsAlone) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.split(0, {0, kNoColor, 0, kNoColor});
  ASSERT_TRUE(mesh.nobody_knows());
  for (const int rank : {0, 2}) mesh.offer(rank, {.needed = 200});
  for (const int rank : {0, 2}) mesh.parts[rank]->collectives().offer(7, {.needed = 200});
  EXPECT_TRUE(eventually(
      [&] { return mesh.parts[0]->collectives().value(mesh.calls[0]++, 7).value.capacity != 0; }));
  EXPECT_EQ(mesh.next(0).reason, kUndecided);
}

TEST(Siblings, AreOfOneSizeAndOneLayout) {
  Mesh sizes(4);
  sizes.open_world();
  sizes.split(0, {0, 0, 1, 1});
  ASSERT_TRUE(sizes.all_know());
  Mesh uneven(5);
  uneven.open_world();
  uneven.split(0, {0, 0, 1, 1, 1});
  EXPECT_TRUE(uneven.nobody_knows());
  // One of them is on one node, the other on two.
  Mesh nodes(4, {1, 1, 1, 2});
  nodes.open_world();
  nodes.split(0, {0, 0, 1, 1});
  EXPECT_TRUE(nodes.nobody_knows());
}

TEST(Siblings, AreWithoutACommunicatorOfAll) {
  Mesh mesh(4);
  mesh.open_by_id({0, 1, 0, 1});
  EXPECT_TRUE(mesh.nobody_knows());
}

TEST(Siblings, AreTimedAsTheSlowestOfAll) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.split(0, {0, 1, 0, 1});
  ASSERT_TRUE(mesh.all_know());
  const Offer asks{.needed = 200, .asks = 1, .span = 1};
  for (int rank = 0; rank < 4; ++rank) mesh.offer(rank, asks);
  const auto is_timed = [](const Value& value) { return value.timing_round == 1; };
  for (int rank = 0; rank < 4; ++rank) ASSERT_TRUE(mesh.first(rank, is_timed)) << rank;
  Offer pays = asks;
  pays.timed = 1;
  pays.times.raw = 1000;
  pays.times.coded = 500;
  Offer does_not = pays;
  does_not.times.coded = 2000;
  for (const int rank : {0, 1, 2}) mesh.offer(rank, pays);
  mesh.offer(3, does_not);
  const auto is_decided = [](const Value& value) { return value.decided == 1; };
  const auto first = mesh.first(0, is_decided);
  ASSERT_TRUE(first);
  for (int rank = 0; rank < 4; ++rank) {
    if (rank != 0) {
      EXPECT_EQ(mesh.first(rank, is_decided), first) << rank;
    }
    EXPECT_FALSE(mesh.next(rank).codes) << rank;
  }
}

// The communicator of all has ended in each program: its tree carries what the others decide.
// Two ranks make one alone and end it, under ever other names; then four ranks split.
TEST(Siblings, AreFoundHoweverManyHaveEndedAlone) {
  int known = 0;
  SiblingSets sets(4, [&](std::uint32_t, const Message& message) {
    if (const auto* const said = std::get_if<thinwire::nccl::agree::Siblings>(&message))
      known += said->known;
  });
  for (std::uint64_t lone = 0; lone < 2 * kMostMeetings; ++lone) {
    for (const std::uint32_t rank : {0u, 1u}) {
      Kin kin;
      kin.from = kin.rank = rank;
      kin.tag = 1000 + lone;
      kin.alike = 1'000'000 + lone;
      kin.ranks = kin.siblings = 2;
      ASSERT_TRUE(sets.take(kin));
    }
    for (const std::uint32_t rank : {0u, 1u}) {
      NoKin gone;
      gone.from = rank;
      gone.tag = 1000 + lone;
      ASSERT_TRUE(sets.take(gone));
    }
  }
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Kin kin;
    kin.from = rank;
    kin.split = 77;
    kin.tag = rank < 2 ? 5 : 7;
    kin.alike = 1;
    kin.rank = rank % 2;
    kin.ranks = 2;
    ASSERT_TRUE(sets.take(kin));
  }
  EXPECT_EQ(known, 2);
}

TEST(Siblings, GoOnAfterTheCommunicatorOfAllHasEnded) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.split(0, {0, 1, 0, 1});
  ASSERT_TRUE(mesh.all_know());
  for (Rank& each : mesh.job.all) each.comm->close();
  let_pass();
  expect_together(mesh);
}

TEST(Siblings, GoOnWithoutOneThatHasEnded) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.split(0, {0, 1, 0, 1});
  ASSERT_TRUE(mesh.all_know());
  for (const int rank : {0, 2, 1}) mesh.offer(rank, {.needed = 200});
  for (const int rank : {1, 3}) mesh.parts.extract(rank).mapped()->close();
  const auto first = mesh.first_coded(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(mesh.first_coded(2), first);
}

// After a rank has left the communicator of all, nothing changes any more, and nobody waits.
TEST(Siblings, KeepWhatHoldsOnceARankHasLeft) {
  Mesh mesh(8);
  mesh.open_world();
  mesh.split(0, {0, 1, 0, 1, 0, 1, 0, 1});
  ASSERT_TRUE(mesh.all_know());
  for (int rank = 0; rank < 8; ++rank) mesh.offer(rank, {.needed = 200});
  const auto first = mesh.first_coded(0);
  ASSERT_TRUE(first);
  for (int rank = 1; rank < 8; ++rank) EXPECT_EQ(mesh.first_coded(rank), first) << rank;
  // An inner rank of the tree ends all that it has, while the others change their minds.
  for (int rank = 1; rank < 8; rank += 2) mesh.offer(rank, {.needed = 300});
  mesh.parts.extract(1).mapped()->close();
  mesh.job.all[1].comm->close();
  for (int rank = 0; rank < 8; rank += 2) mesh.offer(rank, {.needed = 400});
  let_pass();
  // Nobody waits, and each communicator's ranks have one value.
  for (int call = 0; call < 500; ++call) {
    const Value even = mesh.next(0), odd = mesh.next(3);
    for (const int rank : {2, 4, 6}) ASSERT_EQ(mesh.next(rank), even) << rank;
    for (const int rank : {5, 7}) ASSERT_EQ(mesh.next(rank), odd) << rank;
    ASSERT_NE(even.capacity, 0);
    ASSERT_NE(odd.capacity, 0);
  }
}

// Its process ends without a word on the way.
TEST(Siblings, AreLetGoWhereTheCommunicatorOfAllIsAborted) {
  Mesh mesh(4);
  mesh.open_world();
  mesh.split(0, {0, 1, 0, 1});
  ASSERT_TRUE(mesh.all_know());
  for (int rank = 0; rank < 4; ++rank) mesh.offer(rank, {.needed = 200});
  for (int rank = 0; rank < 4; ++rank) ASSERT_TRUE(mesh.first_coded(rank)) << rank;
  for (const int rank : {0, 2}) mesh.offer(rank, {.needed = 300});
  mesh.job.all[1].comm->abort();
  for (const int rank : {1, 3}) mesh.offer(rank, {.needed = 300});
  for (int call = 0; call < 500; ++call) {
    for (int rank = 0; rank < 4; ++rank) ASSERT_NE(mesh.next(rank).capacity, 0) << rank;
  }
  EXPECT_TRUE(eventually([&] { return !mesh.parts[0]->knows_siblings(); }));
}

}  // namespace
