// The topologies that schedules are tried on.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "collective/algorithms.h"

namespace thinwire::collective::testing {

struct NodeMap {
  const char* name;
  std::int32_t (*node_of)(int rank, int size);
};

// Numbers of nodes mean nothing but that they are the same or not.
inline constexpr NodeMap kNodeMaps[] = {
    {"apart", [](int rank, int) { return 1000 - rank; }},
    {"together", [](int, int) { return 7; }},
    {"pairs", [](int rank, int) { return rank / 2; }},
    {"fours", [](int rank, int) { return rank / 4; }},
    {"halves", [](int rank, int size) { return rank * 2 / size; }},
    {"uneven", [](int rank, int) { return (rank % 7) / 3 - rank / 7 * 3; }},
    {"one apart", [](int rank, int size) { return rank == size - 1 ? 0 : 1; }},
    {"interleaved", [](int rank, int) { return rank % 3; }},
};

inline bool has_root(Operation operation) {
  return operation == Operation::kBcast || operation == Operation::kGather ||
         operation == Operation::kScatter || operation == Operation::kReduce;
}

// One to try a row on; `rank` is of no meaning in it.
struct Trial {
  Topology topology;
  int nodes;  // how many
  std::string name;
};

inline std::vector<Trial> trials_of(const Row& row, int size) {
  std::vector<Trial> trials;
  const std::set<int> roots =
      has_root(row.operation) ? std::set{0, size / 2, size - 1} : std::set{0};
  for (const int root : roots) {
    const auto name = std::to_string(size) + " ranks, root " + std::to_string(root);
    if (row.coding != Coding::kTwoLevel) {
      trials.push_back({{0, size, root, {}}, size, name});
      continue;
    }
    for (const NodeMap& map : kNodeMaps) {
      std::vector<std::int32_t> node_of;
      for (int rank = 0; rank < size; ++rank) node_of.push_back(map.node_of(rank, size));
      const auto nodes = static_cast<int>(std::set(node_of.begin(), node_of.end()).size());
      trials.push_back({{0, size, root, node_of}, nodes, name + ", nodes " + map.name});
    }
  }
  return trials;
}

inline std::string name_of(const Row& row) {
  std::string name = std::string(operation_name(row.operation)) + "_" +
                     algorithm_name(row.algorithm) + "_" + coding_name(row.coding);
  for (char& letter : name) {
    if (letter == '-') letter = '_';
  }
  return name;
}

}  // namespace thinwire::collective::testing
