#include "collective/schedules/nodes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace thinwire::collective {

namespace {

// Numbers of nodes by their lowest rank, whatever they are called in the topology.
std::vector<std::int32_t> number_nodes(const Topology& topology, int* count) {
  std::unordered_map<std::int32_t, std::int32_t> number_of;
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(topology.size));
  for (int rank = 0; rank < topology.size; ++rank) {
    const auto next = static_cast<std::int32_t>(number_of.size());
    numbers[static_cast<std::size_t>(rank)] =
        number_of.try_emplace(topology.node(rank), next).first->second;
  }
  *count = static_cast<int>(number_of.size());
  return numbers;
}

}  // namespace

Nodes::Nodes(const Topology& topology) {
  const auto numbers = number_nodes(topology, &count_);
  first_.assign(static_cast<std::size_t>(count_) + 1, 0);
  for (const auto number : numbers) ++first_[static_cast<std::size_t>(number) + 1];
  for (std::size_t node = 0; node < static_cast<std::size_t>(count_); ++node) {
    largest_ = std::max(largest_, first_[node + 1]);
    first_[node + 1] += first_[node];
  }
  ranks_.resize(numbers.size());
  auto free = first_;
  for (int rank = 0; rank < topology.size; ++rank) {
    auto& place = free[static_cast<std::size_t>(numbers[static_cast<std::size_t>(rank)])];
    ranks_[static_cast<std::size_t>(place++)] = rank;
  }
  node_ = numbers[static_cast<std::size_t>(topology.rank)];
  root_node_ = numbers[static_cast<std::size_t>(topology.root)];
}

Nodes Nodes::flat(const Topology& topology) {
  Nodes nodes(Topology{});
  nodes.first_.clear();
  nodes.ranks_.clear();
  nodes.count_ = topology.size;
  nodes.node_ = topology.rank;
  nodes.root_node_ = topology.root;
  return nodes;
}

Nodes Nodes::of(const Topology& topology) {
  Nodes nodes(topology);
  while (nodes.neighbour(nodes.local_) != topology.rank) ++nodes.local_;
  const bool alike = nodes.largest_ * nodes.count_ == topology.size;
  nodes.lanes_ = alike ? nodes.largest_ : 1;
  return nodes;
}

Nodes Nodes::of_rooted(const Topology& topology) {
  Nodes nodes(topology);
  const auto begin =
      nodes.ranks_.begin() + nodes.first_[static_cast<std::size_t>(nodes.root_node_)];
  const auto root = std::find(begin, nodes.ranks_.end(), topology.root);
  std::rotate(begin, root, root + 1);
  while (nodes.neighbour(nodes.local_) != topology.rank) ++nodes.local_;
  return nodes;
}

int Nodes::members(int node) const {
  if (first_.empty()) return 1;
  const auto index = static_cast<std::size_t>(wrap(node));
  return first_[index + 1] - first_[index];
}

int Nodes::member(int node, int local) const {
  if (first_.empty()) return wrap(node);
  return ranks_[static_cast<std::size_t>(first_[static_cast<std::size_t>(wrap(node))] + local)];
}

Schedule assemble(std::uint32_t blocks, std::vector<Step> steps) {
  Schedule schedule;
  schedule.blocks = blocks;
  for (const Step& step : steps) {
    const bool packet = step.action == Action::kEncode || step.action == Action::kDecode ||
                        step.action == Action::kReduce || step.action == Action::kSend ||
                        step.action == Action::kReceive;
    if (packet) schedule.slots = std::max(schedule.slots, step.slot + 1);
    if (step.to == Area::kScratch || step.from == Area::kScratch) {
      schedule.scratch = std::max(schedule.scratch, step.scratch + 1);
    }
  }
  schedule.steps = std::move(steps);
  return schedule;
}

}  // namespace thinwire::collective
