// Schedules in which all nodes do the same: one node's ranks then stand for all.
#pragma once

#include "collective/schedule.h"
#include "simulate/model.h"

namespace thinwire::simulate {

// Moves that leave a schedule as it is. Nodes are turned as on a ring, or their numbers are changed
// by an exclusive or, as in recursive doubling.
enum class Symmetry { kNone, kTurns, kFlips };

Symmetry symmetry_of(const Call& call);

// Who stands for whom: the ranks of node 0 for all, or each rank for itself.
class Fold {
 public:
  Fold(Symmetry symmetry, int nodes, int per_node)
      : symmetry_(symmetry), nodes_(nodes), per_node_(per_node) {}

  int actors() const { return symmetry_ == Symmetry::kNone ? nodes_ * per_node_ : per_node_; }
  int node_of(int rank) const { return rank / per_node_; }

  // The actor that stands for `rank`.
  int actor(int rank) const { return symmetry_ == Symmetry::kNone ? rank : rank % per_node_; }

  // The rank that the actor of `peer` sees in the place of actor `self`, as `self` sees `peer`.
  int seen_from(int peer, int self) const {
    if (symmetry_ == Symmetry::kNone) return self;
    const int node = node_of(peer);
    const int back = symmetry_ == Symmetry::kTurns ? (nodes_ - node) % nodes_ : node;
    return back * per_node_ + self;
  }

 private:
  Symmetry symmetry_;
  int nodes_, per_node_;
};

}  // namespace thinwire::simulate
