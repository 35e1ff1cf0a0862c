#include "collective/slots/nodes.h"

#include <algorithm>
#include <map>

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
}

bool SlotNodes::have_levels() const {
  const auto alike = [&](const auto& each) { return each.size() == members_.front().size(); };
  return count() > 1 && locals() > 1 && std::ranges::all_of(members_, alike);
}

}  // namespace thinwire::collective
