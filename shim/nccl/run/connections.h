// The ranks with which compressed calls exchange messages. NCCL connects two ranks when they first
// do, takes memory of the GPU for it, and keeps that for the communicator's life.
#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "run/nodes.h"

namespace thinwire::nccl {

// Ranks that a rank is to be connected with, and what NCCL takes for that, as estimated.
struct Connections {
  std::set<int> ranks;
  std::uint64_t bytes = 0;
};

// Memory that NCCL takes of a GPU for one pair of ranks, rather too much.
struct BytesOfPair {
  std::uint64_t mate = 0;     // of one node
  std::uint64_t another = 0;  // of two
};
// The bytes of a pair by the environment's settings of NCCL's buffers and channels; `named`: a
// variable of it, or null.
BytesOfPair bytes_of_pair(const std::function<const char*(const char* name)>& named);
const BytesOfPair& bytes_of_pair();

class Connected {
 public:
  Connected(int rank, int ranks, const BytesOfPair& bytes = bytes_of_pair())
      : rank_(rank), ranks_(ranks), bytes_(bytes) {}

  // The program's own messages: with one rank each way, or with all.
  void note_message(int rank, bool outgoing) { (outgoing ? sent_ : received_).insert(rank); }
  void note_messages_with_all() { all_ = true; }
  // Compressed calls have been made that exchange messages with these.
  void add(const Connections& made, bool in_levels) {
    own_.insert(made.ranks.begin(), made.ranks.end());
    (in_levels ? made_in_levels_ : made_) = true;
  }
  // Whether nothing is missing of what such calls exchange messages with.
  bool are_made(bool in_levels) const { return made_ || (in_levels && made_in_levels_); }

  // The ranks that calls exchange messages with and that are not connected: of all ranks, or in two
  // levels of this rank's node and of its peers on others.
  Connections missing(const RankNodes& nodes, bool in_levels) const {
    Connections made;
    if (are_made(in_levels)) return made;
    for (int rank = 0; rank < ranks_; ++rank) {
      const bool is_mate = nodes.are_together(rank_, rank);
      const bool is_met = !in_levels || is_mate || nodes.are_peers(rank_, rank);
      if (rank == rank_ || !is_met || has(rank)) continue;
      made.ranks.insert(rank);
      made.bytes += is_mate ? bytes_.mate : bytes_.another;
    }
    return made;
  }

 private:
  bool has(int rank) const {
    return all_ || own_.contains(rank) || (sent_.contains(rank) && received_.contains(rank));
  }

  const int rank_, ranks_;
  const BytesOfPair bytes_;
  std::set<int> sent_, received_, own_;
  bool all_ = false, made_ = false, made_in_levels_ = false;
};

}  // namespace thinwire::nccl
