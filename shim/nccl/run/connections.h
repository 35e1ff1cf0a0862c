// The ranks with which compressed calls exchange messages. NCCL connects two ranks when they first
// do, takes memory of the GPU for it, and keeps that for the communicator's life.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

namespace thinwire::nccl {

// Which of a communicator's ranks share a node, as all of them know.
class RankNodes {
 public:
  RankNodes() = default;  // each rank has a node of its own
  explicit RankNodes(std::vector<std::uint32_t> of) : of_(std::move(of)) {
    std::map<std::uint32_t, std::ptrdiff_t> ranks;
    for (const std::uint32_t node : of_) ++ranks[node];
    if (ranks.empty()) return;
    const auto [least, most] = std::ranges::minmax(ranks | std::views::values);
    columns_ = least;
    if (ranks.size() > 1 && most > 1 && 2 * least >= most) levels_ = static_cast<int>(ranks.size());
    one_ = ranks.size() == 1;
  }

  bool are_one() const { return one_; }
  bool are_together(int one, int other) const {
    const auto node = [&](int rank) { return of_[static_cast<std::size_t>(rank)]; };
    return !of_.empty() && node(one) == node(other);
  }
  // Whether they have the same place among the ranks of their nodes, and each node has one there.
  bool are_peers(int one, int other) const {
    const std::ptrdiff_t place = place_of(one);
    return place == place_of(other) && (of_.empty() || place < columns_);
  }
  // Ranks of a node that have peers.
  int columns() const { return static_cast<int>(columns_); }
  // Nodes, if sums of large arrays go in two levels, by the core's rule; else 0.
  int levels() const { return levels_; }
  // As tw_stream_comm_options has it.
  const std::uint32_t* data() const { return of_.empty() ? nullptr : of_.data(); }

 private:
  std::ptrdiff_t place_of(int rank) const {
    if (of_.empty()) return 0;
    return std::count(of_.begin(), of_.begin() + rank, of_[static_cast<std::size_t>(rank)]);
  }

  std::vector<std::uint32_t> of_;
  std::ptrdiff_t columns_ = 0;  // ranks of the smallest node
  int levels_ = 0;
  bool one_ = false;
};

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
