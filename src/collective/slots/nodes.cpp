#include "collective/slots/nodes.h"

#include <algorithm>
#include <map>
#include <ranges>

namespace thinwire::collective {

SlotNodes::SlotNodes(const std::vector<std::uint32_t>& of_ranks) {
  std::map<std::uint32_t, int> numbers;
  for (const std::uint32_t named : of_ranks) {
    const auto [found, added] = numbers.try_emplace(named, count());
    if (added) members_.emplace_back();
    std::vector<int>& members = members_[static_cast<std::size_t>(found->second)];
    local_.push_back(static_cast<int>(members.size()));
    members.push_back(static_cast<int>(node_.size()));
    node_.push_back(found->second);
  }
  const auto ranks_of = [](const std::vector<int>& each) { return static_cast<int>(each.size()); };
  const auto [least, most] = std::ranges::minmax(members_ | std::views::transform(ranks_of));
  columns_ = least;
  largest_ = most;
  step_ = are_even() ? step_of_columns() : 0;
}

int SlotNodes::stand_in(int node, int rank) const {
  const std::vector<int>& there = members(node);
  const auto own = static_cast<std::size_t>(local(rank));
  return there[own < there.size() ? own : static_cast<std::size_t>(of(rank)) % there.size()];
}

std::vector<std::vector<int>> SlotNodes::parts_of(int node) const {
  std::vector<std::vector<int>> made(members(node).size());
  for (std::size_t column = 0; column < static_cast<std::size_t>(largest_); ++column) {
    for (const std::vector<int>& each : members_) {
      if (column >= each.size()) continue;
      const int rank = each[column];
      made[static_cast<std::size_t>(local(stand_in(node, rank)))].push_back(rank);
    }
  }
  return made;
}

int SlotNodes::step_of_columns() const {
  const int step = members_[1].front() - members_[0].front();
  for (int rank = 0; rank < ranks(); ++rank) {
    const int first = members_[0][static_cast<std::size_t>(local(rank))];
    if (rank != first + step * of(rank)) return 0;
  }
  return step;
}

}  // namespace thinwire::collective
