// Gather, Scatter and Alltoall, whose blocks travel one by one: what the plan counts is what the
// schedules do, and an Alltoall's messages are spread over the nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "collective.h"
#include "plan/work.h"
#include "prove.h"

namespace thinwire::collective::testing {
namespace {

constexpr int kRanks = 16;

// Work of the busiest rank or node, in blocks of single ranks.
struct Count {
  double encodes = 0;  // of a rank
  double decodes = 0;
  double packets = 0;  // of a rank, one way
  double leaving = 0;  // of a node, one way
  double inside = 0;   // of a node
};

void raise(double& most, double count) { most = std::max(most, count); }

Count count_of(const Collective& collective, const Topology& topology) {
  Count most;
  std::map<int, double> leaving, arriving, inside;
  for (int rank = 0; rank < collective.size; ++rank) {
    std::map<Action, double> of_rank;
    for (const Step& step : collective.ranks[static_cast<std::size_t>(rank)].steps) {
      ++of_rank[step.action];
      if (step.action == Action::kSendValues) ++inside[topology.node(rank)];
      if (step.action != Action::kSend) continue;
      ++leaving[topology.node(rank)];
      ++arriving[topology.node(step.peer)];
    }
    raise(most.encodes, of_rank[Action::kEncode]);
    raise(most.decodes, of_rank[Action::kDecode]);
    raise(most.packets, std::max(of_rank[Action::kSend], of_rank[Action::kReceive]));
  }
  for (const auto& node : leaving) raise(most.leaving, node.second);
  for (const auto& node : arriving) raise(most.leaving, node.second);
  for (const auto& node : inside) raise(most.inside, node.second);
  return most;
}

bool moves_blocks(const Row& row) {
  return row.coding != Coding::kPerHop &&
         (row.operation == Operation::kGather || row.operation == Operation::kScatter ||
          row.operation == Operation::kAlltoall);
}

TEST(Blocks, AreCountedByThePlan) {
  for (const Row& row : algorithms()) {
    if (!moves_blocks(row)) continue;
    for (const int a_node : {1, 2, 4, 8, 16}) {
      const bool levels = row.coding == Coding::kTwoLevel;
      if (a_node > 1 && !levels) continue;
      SCOPED_TRACE(name_of(row) + ", " + std::to_string(a_node) + " ranks a node");
      Topology topology{0, kRanks, 5, {}};
      for (int rank = 0; rank < kRanks; ++rank) topology.node_of.push_back(rank / a_node);
      const Count count = count_of(collective_of(row, topology), topology);
      const auto work = plan::work_of({row.operation, row.algorithm, row.coding},
                                      {.ranks = kRanks, .nodes = kRanks / a_node});
      EXPECT_DOUBLE_EQ(work.block, 1.0 / kRanks);
      EXPECT_DOUBLE_EQ(work.wire, count.leaving / kRanks);
      EXPECT_DOUBLE_EQ(work.inside, count.inside / kRanks);
      // If nothing travels, nothing is coded, whatever the count.
      if (a_node == kRanks) continue;
      EXPECT_DOUBLE_EQ(work.encode, count.encodes / kRanks);
      EXPECT_DOUBLE_EQ(work.decode, count.decodes / kRanks);
      if (levels) {
        EXPECT_DOUBLE_EQ(work.rounds, count.packets);
      }
    }
  }
}

// In step k, every rank's k-th packet out, each rank is sent to by one, and the ranks of a node all
// send to one node, which is no other's then.
TEST(Blocks, OfAnAlltoallMeetEachNodeByTurns) {
  for (const int a_node : {1, 2, 4}) {
    SCOPED_TRACE(a_node);
    Topology topology{0, kRanks, 0, {}};
    for (int rank = 0; rank < kRanks; ++rank) topology.node_of.push_back(rank / a_node);
    const Row* row = find_algorithm(Operation::kAlltoall, Algorithm::kPairwise, Coding::kTwoLevel);
    ASSERT_NE(row, nullptr);
    std::vector<std::set<int>> heard;                   // by step
    std::vector<std::map<int, std::set<int>>> nodes;    // by step and sender's node
    std::vector<std::map<int, std::set<int>>> senders;  // by step and receiver's node
    for (int rank = 0; rank < kRanks; ++rank) {
      topology.rank = rank;
      std::size_t at = 0;
      for (const Step& step : row->make(topology).steps) {
        if (step.action != Action::kSend) continue;
        heard.resize(std::max(heard.size(), at + 1));
        nodes.resize(heard.size());
        senders.resize(heard.size());
        heard[at].insert(step.peer);
        nodes[at][topology.node(rank)].insert(topology.node(step.peer));
        senders[at++][topology.node(step.peer)].insert(topology.node(rank));
      }
    }
    ASSERT_EQ(heard.size(), static_cast<std::size_t>(kRanks - a_node));
    for (std::size_t at = 0; at < heard.size(); ++at) {
      EXPECT_EQ(heard[at].size(), static_cast<std::size_t>(kRanks)) << "step " << at;
      for (const auto& node : nodes[at]) EXPECT_EQ(node.second.size(), 1U) << "step " << at;
      for (const auto& node : senders[at]) EXPECT_EQ(node.second.size(), 1U) << "step " << at;
    }
  }
}

// On nodes of different sizes too, a rank's packets go to one node after the other.
TEST(Blocks, OfAnAlltoallLeaveForOneNodeAfterTheOther) {
  const Row* row = find_algorithm(Operation::kAlltoall, Algorithm::kPairwise, Coding::kTwoLevel);
  ASSERT_NE(row, nullptr);
  for (const Trial& trial : trials_of(*row, 23)) {
    SCOPED_TRACE(trial.name);
    Topology topology = trial.topology;
    for (topology.rank = 0; topology.rank < topology.size; ++topology.rank) {
      std::vector<int> met;
      for (const Step& step : row->make(topology).steps) {
        if (step.action != Action::kSend) continue;
        const int node = topology.node(step.peer);
        if (met.empty() || met.back() != node) met.push_back(node);
      }
      EXPECT_EQ(static_cast<int>(met.size()), trial.nodes - 1);
      EXPECT_EQ(std::set<int>(met.begin(), met.end()).size(), met.size());
    }
  }
}

}  // namespace
}  // namespace thinwire::collective::testing
