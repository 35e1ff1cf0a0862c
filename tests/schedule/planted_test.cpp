// Faults planted in schedules that are right: the prover must find every one of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "prove.h"

namespace thinwire::collective::testing {
namespace {

Collective collective_of_row(Operation operation, Algorithm algorithm, int size) {
  return collective_of(*find_algorithm(operation, algorithm, Coding::kOnce), {0, size, 0, {}});
}

// Every step of every rank of every row, one after the other, for some sizes.
template <class Plant>
void expect_found(Plant&& plant) {
  for (const Row& row : algorithms()) {
    for (const int size : {2, 5, 6}) {
      for (const Trial& trial : trials_of(row, size)) {
        const auto right = collective_of(row, trial.topology);
        for (std::size_t rank = 0; rank < right.ranks.size(); ++rank) {
          for (std::size_t at = 0; at < right.ranks[rank].steps.size(); ++at) {
            auto wrong = right;
            if (!plant(wrong, wrong.ranks[rank].steps, at)) continue;
            EXPECT_NE(prove(wrong).fault, "")
                << name_of(row) << ", " << trial.name << ": rank " << rank << ", step " << at;
          }
        }
      }
    }
  }
}

TEST(Prover, FindsEveryStepThatLacks) {
  expect_found([](Collective&, std::vector<Step>& steps, std::size_t at) {
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  });
}

TEST(Prover, FindsEveryMessageToAnotherPeer) {
  expect_found([](Collective& collective, std::vector<Step>& steps, std::size_t at) {
    if (!sends(steps[at].action) && !receives(steps[at].action)) return false;
    steps[at].peer = (steps[at].peer + 1) % collective.size;
    return true;
  });
}

TEST(Prover, FindsEveryContributionThatIsAddedTwice) {
  expect_found([](Collective&, std::vector<Step>& steps, std::size_t at) {
    const Step step = steps[at];
    if (step.action != Action::kReduce && step.action != Action::kCombine) return false;
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
    return true;
  });
}

TEST(Prover, FindsEveryStepForAnotherBlock) {
  expect_found([](Collective& collective, std::vector<Step>& steps, std::size_t at) {
    const auto blocks = collective.ranks[0].blocks;
    steps[at].block = (steps[at].block + 1) % blocks;
    return blocks > 1;
  });
}

TEST(Prover, FindsPacketsSentAsValues) {
  expect_found([](Collective&, std::vector<Step>& steps, std::size_t at) {
    if (steps[at].action != Action::kSend) return false;
    steps[at].action = Action::kSendValues;
    steps[at].from = Area::kOutput;
    return true;
  });
}

TEST(Prover, FindsSlotsThatAreTakenTooEarly) {
  auto collective = collective_of_row(Operation::kScatter, Algorithm::kDirect, 3);
  auto& steps = collective.ranks[0].steps;
  ASSERT_EQ(steps[1].action, Action::kSend);
  ASSERT_EQ(steps[2].action, Action::kEncode);
  std::swap(steps[1], steps[2]);
  EXPECT_EQ(prove(collective).fault, "");
  steps[1].slot = steps[0].slot;
  EXPECT_NE(prove(collective).fault.find("values of another block"), std::string::npos);
}

// Each rank would wait for its neighbour to receive what that one has no slot for.
TEST(Prover, FindsRingsThatHaveTooFewSlots) {
  auto collective = collective_of_row(Operation::kAllgather, Algorithm::kRing, 4);
  for (Schedule& schedule : collective.ranks) {
    for (Step& step : schedule.steps) step.slot = 0;
  }
  EXPECT_NE(prove(collective).fault.find("waits for ever"), std::string::npos);
}

TEST(Prover, FindsRanksThatEndWithOtherBits) {
  auto collective = collective_of_row(Operation::kAllgather, Algorithm::kRing, 3);
  auto& steps = collective.ranks[0].steps;
  const auto of_own = [](const Step& step) { return step.block == 0; };
  const auto decoded = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
    return step.action == Action::kDecode && of_own(step);
  });
  ASSERT_NE(decoded, steps.end());
  *decoded = copy(0, Area::kOutput, Area::kInput);
  EXPECT_NE(prove(collective).fault.find("other bits"), std::string::npos);
  collective.identical = false;
  EXPECT_EQ(prove(collective).fault, "");
}

TEST(Prover, FindsABroadcastThatWritesTheRootsValues) {
  auto collective = collective_of_row(Operation::kBcast, Algorithm::kChain, 3);
  EXPECT_EQ(prove(collective).fault, "");
  collective.ranks[0].steps.push_back(decode(0, Area::kOutput, 0));
  EXPECT_NE(prove(collective).fault.find("writes the root's values"), std::string::npos);
}

TEST(Prover, FindsARootThatShouldHaveDecoded) {
  Topology topology{0, 3, 0, {}, true};
  auto collective = collective_of(
      *find_algorithm(Operation::kBcast, Algorithm::kChain, Coding::kPerHop), topology);
  EXPECT_EQ(prove(collective).fault, "");
  std::erase_if(collective.ranks[0].steps,
                [](const Step& step) { return step.action == Action::kDecode; });
  EXPECT_NE(prove(collective).fault.find("the root did not decode"), std::string::npos);
}

// Recursive doubling relies on it.
TEST(Prover, KnowsWhereEqualValuesMustBeEncodedToEqualPackets) {
  auto collective = collective_of_row(Operation::kAllreduce, Algorithm::kRecursiveDoubling, 4);
  EXPECT_EQ(prove(collective).fault, "");
  collective.equal_packets = false;
  EXPECT_NE(prove(collective).fault.find("other bits"), std::string::npos);
}

// Values of a packet that stayed raw are sent from where they lie.
TEST(Prover, FindsPacketsWhoseValuesHaveChanged) {
  auto collective = collective_of_row(Operation::kAllreduce, Algorithm::kRecursiveDoubling, 3);
  auto& steps = collective.ranks[1].steps;
  const auto to_listener = std::find_if(steps.begin(), steps.end(), [](const Step& step) {
    return step.action == Action::kSend && step.peer == 0;
  });
  ASSERT_NE(to_listener, steps.end());
  const auto reduced = std::find_if(
      to_listener, steps.end(), [](const Step& step) { return step.action == Action::kReduce; });
  ASSERT_NE(reduced, steps.end());
  // After the reduction, and before the other packet, which the listener awaits second.
  std::rotate(to_listener, to_listener + 1, reduced + 1);
  std::erase_if(steps,
                [](const Step& step) { return step.action == Action::kSend && step.peer == 0; });
  steps.push_back(send(0, 1, 0));
  steps.push_back(send(0, 2, 0));
  EXPECT_NE(prove(collective).fault.find("have changed since"), std::string::npos);
}

// Right if input and output are apart.
TEST(Prover, FindsInputThatIsReadAfterOutputWasWritten) {
  Collective collective;
  collective.operation = Operation::kReduce;
  collective.size = 2;
  collective.ranks.resize(2);
  collective.ranks[0].steps = {receive_values(0, Area::kOutput, 1),
                               combine(0, Area::kOutput, Area::kInput)};
  collective.ranks[1].steps = {send_values(0, Area::kInput, 0)};
  EXPECT_EQ(prove(collective).fault, "");
  collective.in_place = true;
  EXPECT_NE(prove(collective).fault.find("added twice"), std::string::npos);
}

// Two that each receive into the slot that they send from.
TEST(Prover, FindsRanksThatWaitForEachOther) {
  Collective collective;
  collective.operation = Operation::kAllgather;
  collective.size = 2;
  for (const int rank : {0, 1}) {
    const auto own = static_cast<std::uint32_t>(rank);
    Schedule schedule;
    schedule.blocks = 2;
    schedule.slots = 1;
    schedule.steps = {encode(own, Area::kInput, 0), decode(own, Area::kOutput, 0),
                      send(own, 0, 1 - rank), receive(1 - own, 0, 1 - rank),
                      decode(1 - own, Area::kOutput, 0)};
    collective.ranks.push_back(schedule);
  }
  EXPECT_NE(prove(collective).fault.find("waits for ever"), std::string::npos);
}

}  // namespace
}  // namespace thinwire::collective::testing
