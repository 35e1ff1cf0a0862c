// The ranks with which compressed calls exchange messages. NCCL connects two ranks when they first
// do, takes memory of the GPU for it, and keeps that for the communicator's life.
#pragma once

#include <algorithm>
#include <compare>
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
    std::map<std::uint32_t, std::ptrdiff_t> ranks, numbers;
    for (const std::uint32_t node : of_) {
      place_.push_back(ranks[node]++);
      number_.push_back(numbers.try_emplace(node, std::ssize(numbers)).first->second);
    }
    if (ranks.empty()) return;
    for (const std::uint32_t node : of_) size_.push_back(ranks[node]);
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
  // Whether each node has a rank of the same place among its ranks.
  bool has_column(int rank) const { return of_.empty() || place_of(rank) < columns_; }
  // Whether they have the same place, and each node has one there.
  bool are_peers(int one, int other) const {
    return place_of(one) == place_of(other) && has_column(one);
  }
  // Whether, if blocks are the ranks' own, `one` has to do with the block of `other` on its node:
  // as the core's SlotNodes::stand_in() has it.
  bool stands_in(int one, int other) const {
    if (of_.empty()) return true;
    const std::ptrdiff_t place = place_of(other), size = size_[static_cast<std::size_t>(one)];
    const std::ptrdiff_t by_turns = number_[static_cast<std::size_t>(other)] % size;
    return place_of(one) == (place < size ? place : by_turns);
  }
  // Ranks of a node that have peers.
  int columns() const { return static_cast<int>(columns_); }
  // Nodes, if sums of large arrays go in two levels, by the core's rule; else 0.
  int levels() const { return levels_; }
  // As tw_stream_comm_options has it.
  const std::uint32_t* data() const { return of_.empty() ? nullptr : of_.data(); }

 private:
  std::ptrdiff_t place_of(int rank) const {
    return of_.empty() ? 0 : place_[static_cast<std::size_t>(rank)];
  }

  std::vector<std::uint32_t> of_;
  // By rank: its place among those of its node, that node's place by its first rank, and how many
  // ranks it has.
  std::vector<std::ptrdiff_t> place_, number_, size_;
  std::ptrdiff_t columns_ = 0;  // ranks of the smallest node
  int levels_ = 0;
  bool one_ = false;
};

// Calls that exchange messages: with all ranks, or in two levels; `root`: of a Reduce in two
// levels, which gets the results from all ranks that have a column; else -1.
// `of_ranks`: each rank has a block, on nodes of any size.
struct Exchange {
  bool in_levels = false;
  int root = -1;
  bool of_ranks = false;
  auto operator<=>(const Exchange&) const = default;
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
  void add(const Connections& made, const Exchange& with) {
    own_.insert(made.ranks.begin(), made.ranks.end());
    if (!with.in_levels) {
      made_ = true;
    } else {
      made_in_levels_.insert(with);
    }
  }
  // Whether nothing is missing of what such calls exchange messages with.
  bool are_made(const Exchange& with) const {
    return made_ || (with.in_levels && made_in_levels_.contains(with));
  }

  // The ranks that calls exchange messages with and that are not connected.
  Connections missing(const RankNodes& nodes, const Exchange& with) const {
    Connections made;
    if (are_made(with)) return made;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank == rank_ || has(rank) || !meets(nodes, with, rank)) continue;
      made.ranks.insert(rank);
      made.bytes += nodes.are_together(rank_, rank) ? bytes_.mate : bytes_.another;
    }
    return made;
  }

 private:
  // In two levels: peers, mates of which one has a column, and a root; if each rank has a block,
  // all mates, and those that stand in for one another.
  bool meets(const RankNodes& nodes, const Exchange& with, int rank) const {
    if (with.in_levels && with.of_ranks) {
      return nodes.are_together(rank_, rank) || nodes.stands_in(rank_, rank) ||
             nodes.stands_in(rank, rank_);
    }
    if (!with.in_levels || nodes.are_peers(rank_, rank)) return true;
    const bool own_column = nodes.has_column(rank_), its_column = nodes.has_column(rank);
    if (nodes.are_together(rank_, rank) && (own_column || its_column)) return true;
    return (rank == with.root && own_column) || (rank_ == with.root && its_column);
  }

  bool has(int rank) const {
    return all_ || own_.contains(rank) || (sent_.contains(rank) && received_.contains(rank));
  }

  const int rank_, ranks_;
  const BytesOfPair bytes_;
  std::set<int> sent_, received_, own_;
  std::set<Exchange> made_in_levels_;
  bool all_ = false, made_ = false;
};

}  // namespace thinwire::nccl
