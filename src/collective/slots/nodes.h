// The node of each rank, as a plan of slots goes by it.
#pragma once

#include <cstdint>
#include <vector>

namespace thinwire::collective {

// Ranks of a node have local numbers, from 0, in the order of their ranks.
class SlotNodes {
 public:
  // Equal numbers are one node; they need not be small or follow each other.
  explicit SlotNodes(const std::vector<std::uint32_t>& of_ranks);

  int ranks() const { return static_cast<int>(node_.size()); }
  int count() const { return static_cast<int>(members_.size()); }
  int of(int rank) const { return node_[static_cast<std::size_t>(rank)]; }
  int local(int rank) const { return local_[static_cast<std::size_t>(rank)]; }
  bool are_together(int one, int other) const { return of(one) == of(other); }

  // The rank of a node that has to do with the block of `rank` there: the one of that local number,
  // or, on a node that has none, one by turns of the nodes of such ranks.
  int stand_in(int node, int rank) const;
  // By each rank of a node: whose blocks it has to do with, itself among them, column after column.
  std::vector<std::vector<int>> parts_of(int node) const;

  // Ranks of a node, in their order. Nodes are in the order of their first ranks.
  const std::vector<int>& members(int node) const {
    return members_[static_cast<std::size_t>(node)];
  }

  // Ranks of the smallest and of the largest node. The ranks of one local number below columns()
  // are a column: there is one on each node.
  int columns() const { return columns_; }
  int largest() const { return largest_; }

  // Several nodes of as many ranks each, and of more than one: each rank is in a column.
  bool are_even() const { return have_columns() && columns_ == largest_; }
  // Several nodes, of which one has several ranks, and at least half of those are in columns: fewer
  // would leave most network cards of a node without work.
  bool have_columns() const { return count() > 1 && largest_ > 1 && 2 * columns_ >= largest_; }
  // The distance between the ranks of each column from one node to the next; 0 if it is not the
  // same everywhere, or ranks do not come in the order of their nodes.
  int step() const { return step_; }

 private:
  int step_of_columns() const;

  std::vector<int> node_, local_;
  int columns_ = 0, largest_ = 0, step_ = 0;
  std::vector<std::vector<int>> members_;
};

}  // namespace thinwire::collective
