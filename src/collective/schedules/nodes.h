// Who talks to whom in a schedule of two levels. A flat schedule is one in which every rank is a
// node of its own: the schedules below are written once for both.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/schedule.h"

namespace thinwire::collective {

// The nodes of a topology, in the order of their lowest ranks, seen from one rank. Between nodes
// the ranks talk that have the same number inside theirs and are below lanes(): all of them if
// nodes are of one size, else only the first of each.
class Nodes {
 public:
  // Every rank is a node of its own; costs no memory.
  static Nodes flat(const Topology& topology);

  static Nodes of(const Topology& topology);

  // There is one lane, and the root is the first of its node.
  static Nodes of_rooted(const Topology& topology);

  int count() const { return count_; }
  int node() const { return node_; }
  int local() const { return local_; }
  int lanes() const { return lanes_; }
  int root_node() const { return root_node_; }
  int largest() const { return largest_; }

  // Ranks in a node; the rank of one of them. Numbers of nodes wrap around.
  int members(int node) const;
  int member(int node, int local) const;

  // Ranks of this node.
  int locals() const { return members(node_); }
  int neighbour(int local) const { return member(node_, local); }

  // The rank that this one talks to in another node.
  int across(int node) const { return member(node, local_); }

  // Between nodes only the first ranks of each talk.
  bool talks_across() const { return local_ < lanes_; }

  // Ranks of a node whose blocks go through one lane, in collectives of a block a rank.
  int lane_members(int node) const { return lanes_ == 1 ? members(node) : 1; }
  int lane_member(int node, int lane, int i) const { return member(node, lanes_ == 1 ? i : lane); }

  int wrap(int node) const { return ((node % count_) + count_) % count_; }

 private:
  explicit Nodes(const Topology& topology);

  int count_ = 1;
  int node_ = 0;
  int local_ = 0;
  int lanes_ = 1;
  int largest_ = 1;
  int root_node_ = 0;
  std::vector<std::int32_t> first_;  // of each node in `ranks_`, and the end; empty if flat
  std::vector<std::int32_t> ranks_;
};

// Hands out numbers in a circle: slots, or scratch.
class Rotation {
 public:
  Rotation(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {}
  std::uint32_t take() { return first_ + taken_++ % count_; }

 private:
  std::uint32_t first_;
  std::uint32_t count_;
  std::uint32_t taken_ = 0;
};

// A schedule with as many slots and as much scratch as its steps name.
Schedule assemble(std::uint32_t blocks, std::vector<Step> steps);

}  // namespace thinwire::collective
