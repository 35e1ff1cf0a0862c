#include "prove.h"

#include <set>

namespace thinwire::collective::testing {

namespace {

struct NodeMap {
  const char* name;
  std::int32_t (*node_of)(int rank, int size);
};

// Numbers of nodes mean nothing but that they are the same or not.
constexpr NodeMap kNodeMaps[] = {
    {"apart", [](int rank, int) { return 1000 - rank; }},
    {"together", [](int, int) { return 7; }},
    {"pairs", [](int rank, int) { return rank / 2; }},
    {"fours", [](int rank, int) { return rank / 4; }},
    {"halves", [](int rank, int size) { return rank * 2 / size; }},
    {"uneven", [](int rank, int) { return (rank % 7) / 3 - rank / 7 * 3; }},
    {"one apart", [](int rank, int size) { return rank == size - 1 ? 0 : 1; }},
    {"interleaved", [](int rank, int) { return rank % 3; }},
};

bool has_root(Operation operation) {
  return operation == Operation::kBcast || operation == Operation::kGather ||
         operation == Operation::kScatter || operation == Operation::kReduce;
}

std::set<int> roots_of(const Row& row, int size) {
  std::set<int> roots{0};
  if (has_root(row.operation)) roots.insert({size / 2, size - 1});
  return roots;
}

Trial sample_of(int size, int root) {
  Trial trial;
  trial.topology.size = size;
  trial.topology.root = root;
  trial.nodes = size;
  trial.name = std::to_string(size) + " ranks, root " + std::to_string(root);
  return trial;
}

Trial on_nodes(Trial trial, const NodeMap& map) {
  std::set<std::int32_t> nodes;
  for (int rank = 0; rank < trial.topology.size; ++rank) {
    trial.topology.node_of.push_back(map.node_of(rank, trial.topology.size));
    nodes.insert(trial.topology.node_of.back());
  }
  trial.nodes = static_cast<int>(nodes.size());
  trial.name += std::string(", nodes ") + map.name;
  return trial;
}

}  // namespace

std::vector<Trial> trials_of(const Row& row, int size) {
  std::vector<Trial> trials;
  for (const int root : roots_of(row, size)) {
    const Trial flat = sample_of(size, root);
    if (row.coding != Coding::kTwoLevel) {
      trials.push_back(flat);
      continue;
    }
    for (const NodeMap& map : kNodeMaps) trials.push_back(on_nodes(flat, map));
  }
  if (row.operation != Operation::kBcast) return trials;
  for (std::size_t at = 0, kept = trials.size(); at < kept; ++at) {
    trials.push_back(trials[at]);
    trials.back().topology.root_decodes = true;
    trials.back().name += ", the root decodes";
  }
  return trials;
}

std::string name_of(const Row& row) {
  std::string name = std::string(operation_name(row.operation)) + "_" +
                     algorithm_name(row.algorithm) + "_" + coding_name(row.coding);
  for (char& letter : name) {
    if (letter == '-') letter = '_';
  }
  return name;
}

}  // namespace thinwire::collective::testing
