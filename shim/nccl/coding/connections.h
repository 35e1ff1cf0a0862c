// With which ranks compressed calls exchange messages. NCCL connects two ranks when they first do,
// takes memory of the GPU for it, and keeps that for the communicator's life.
#pragma once

#include <cstdint>
#include <set>

#include "coding/nodes.h"

namespace thinwire::nccl {

// Ranks that a rank is to be connected with, and what NCCL takes for that, as estimated.
struct Connections {
  std::set<int> ranks;
  std::uint64_t bytes = 0;
};

class Connected {
 public:
  Connected(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  // The program's own messages: with one rank each way, or with all.
  void note_message(int rank, bool outgoing) { (outgoing ? sent_ : received_).insert(rank); }
  void note_messages_with_all() { all_ = true; }
  // Compressed calls may be with these from now on.
  void add(const Connections& made) { own_.insert(made.ranks.begin(), made.ranks.end()); }

  // What is not connected of those that calls exchange messages with: of all ranks, or in two
  // levels of those of this rank's node and of its peers on others.
  Connections missing(const RankNodes& nodes, bool in_levels) const {
    Connections made;
    for (int rank = 0; rank < ranks_; ++rank) {
      const bool is_mate = nodes.are_together(rank_, rank);
      const bool is_met = !in_levels || is_mate || nodes.are_peers(rank_, rank);
      if (rank == rank_ || !is_met || has(rank)) continue;
      made.ranks.insert(rank);
      made.bytes += is_mate ? kBytesOfMate : kBytesOfAnother;
    }
    return made;
  }

 private:
  // From 1.06 to 4.34 GB for the first exchange of all with all on a node of 8 H100, which is 0.47
  // GB a rank (NVIDIA/nccl#1685). Between nodes NCCL has two channels a rank and not up to 32.
  static constexpr std::uint64_t kBytesOfMate = 480 << 20;
  static constexpr std::uint64_t kBytesOfAnother = 32 << 20;

  bool has(int rank) const {
    return all_ || own_.contains(rank) || (sent_.contains(rank) && received_.contains(rank));
  }

  const int rank_, ranks_;
  std::set<int> sent_, received_, own_;
  bool all_ = false;
};

}  // namespace thinwire::nccl
