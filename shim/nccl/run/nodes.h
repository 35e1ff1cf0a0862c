// Which of a communicator's ranks share a node, as all of them know.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace thinwire::nccl {

class RankNodes {
 public:
  RankNodes() = default;  // each rank has a node of its own
  explicit RankNodes(std::vector<std::uint32_t> of) : of_(std::move(of)) {
    const std::set<std::uint32_t> all(of_.begin(), of_.end());
    const auto first = std::ranges::count(of_, of_.empty() ? 0 : of_.front());
    const auto alike = [&](std::uint32_t node) { return std::ranges::count(of_, node) == first; };
    if (all.size() > 1 && first > 1 && std::ranges::all_of(all, alike)) {
      levels_ = static_cast<int>(all.size());
    }
    one_ = all.size() == 1;
  }

  bool are_one() const { return one_; }
  bool are_together(int one, int other) const {
    const auto node = [&](int rank) { return of_[static_cast<std::size_t>(rank)]; };
    return !of_.empty() && node(one) == node(other);
  }
  // Whether they have the same place among the ranks of their nodes.
  bool are_peers(int one, int other) const { return place_of(one) == place_of(other); }
  // Nodes, if they are several of as many ranks each, and of more than one; else 0.
  int levels() const { return levels_; }
  // As tw_stream_comm_options has it.
  const std::uint32_t* data() const { return of_.empty() ? nullptr : of_.data(); }

 private:
  std::ptrdiff_t place_of(int rank) const {
    if (of_.empty()) return 0;
    return std::count(of_.begin(), of_.begin() + rank, of_[static_cast<std::size_t>(rank)]);
  }

  std::vector<std::uint32_t> of_;
  int levels_ = 0;
  bool one_ = false;
};

}  // namespace thinwire::nccl
