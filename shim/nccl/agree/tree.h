// A rank's connections to its parent and its children in the tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agree/limits.h"
#include "agree/session.h"

namespace thinwire::nccl::agree {

// The tree of a communicator's ranks. Pure.

constexpr int parent_of(int rank) { return (rank - 1) / kFanOut; }
constexpr int first_child(int rank) { return kFanOut * rank + 1; }

constexpr int children_of(int rank, int ranks) {
  const std::int64_t first = std::int64_t{kFanOut} * rank + 1;
  return static_cast<int>(std::clamp<std::int64_t>(ranks - first, 0, kFanOut));
}

constexpr bool is_below(int top, int rank) {
  while (rank > top) rank = parent_of(rank);
  return rank == top;
}

// Which child of `top`, counted from 0, has `rank` below it; it is below `top`, and another.
constexpr int way_to(int top, int rank) {
  while (parent_of(rank) != top) rank = parent_of(rank);
  return rank - first_child(top);
}

// The ranks of the subtree of `top`, which is one of them.
constexpr int ranks_below(int top, int ranks) {
  std::int64_t first = top, count = 1, found = 0;
  while (first < ranks) {
    found += std::min<std::int64_t>(count, ranks - first);
    first = kFanOut * first + 1;
    count *= kFanOut;
  }
  return static_cast<int>(found);
}

constexpr int kFromParent = -1;

class Tree {
 public:
  struct Told {
    std::function<void()> ready;
    std::function<void(const std::string& why)> failed;  // before that
    // After that.
    std::function<void(int rank, const std::string& why)> lost;
    // From the parent (kFromParent) or a child, 0 and so on; after `ready`, or `Broken` at any
    // time.
    std::function<void(int from, Message&&)> message;
    // A connection was lost and is made again; and whatever is_done() may depend on.
    std::function<void(int rank, const std::string& why)> waits;
    std::function<void()> progress;
  };
  struct Times {
    std::chrono::milliseconds connecting;  // after the addresses are known
    std::chrono::milliseconds resuming;
    std::chrono::milliseconds refused;
  };

  Tree(Loop& loop, const Secret& secret, int rank, int ranks, const Times& times, Told told);
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // The parent has come, for the first time or, before it knew that it had, again.
  void adopt(std::unique_ptr<Link> parent);
  // Takes the connection of a parent that has come again since.
  bool adopt_again(std::unique_ptr<Link>& parent, std::uint64_t taken);
  // A child misses its connection.
  void wake(int rank);
  // The subtree's ranks, this one among them.
  void take(const Table& table);

  void up(const Message& message);
  void down(const Message& message);
  // Sends to all neighbours but one: kFromParent, a child, or kFromNobody.
  static constexpr int kFromNobody = -2;
  void around(int but, const Message& message);
  void around(int but, const SharedBytes& packed);
  // Sends a message towards a rank. False: a rank on the way has left.
  bool towards(int rank, const SharedBytes& packed);
  bool towards(int rank, const Message& message);

  bool is_ready() const { return ready_; }
  // This rank's subtree is whole, so that others may have heard that all ranks are connected.
  bool may_be_ready() const { return said_up_; }
  int children() const { return static_cast<int>(children_.size()); }
  int neighbours() const { return children() + (parent_ ? 1 : 0); }
  // Addresses and nodes of all ranks, after the tree is ready.
  const std::vector<Address>& addresses() const { return addresses_; }
  const std::vector<std::uint32_t>& nodes() const { return nodes_; }

  // Nothing comes from the parent any more.
  bool has_lost_parent() const { return parent_ && parent_->is_over(); }
  bool has_unsent() const;
  // This rank has no more to say; and whether its neighbours know, and have all that it said.
  void leave();
  bool is_done() const;
  // Sends what is queued and ends; nobody is told any more.
  void dismiss();

 private:
  struct Child {
    std::unique_ptr<Session> session;
    bool up = false;
    Loop::TimerId retry{};
    std::chrono::milliseconds delay = kFirstRetry;
  };

  bool fits(const Table& table) const;
  std::unique_ptr<Session> session_with(int rank);
  const Address& place_of(int rank) const;
  Session* way_towards(int rank) const;
  void miss_parent(const std::string& why);
  void connect(int child);
  void child_ended(int child, const std::string& why);
  void take_from_parent(Message&& message);
  void take_from_child(int child, Message&& message);
  void report_if_whole();
  void become_ready(const Ready& with);
  void fail(const std::string& why);

  Loop& loop_;
  const Secret secret_;
  const int rank_;
  const int ranks_;
  const Times times_;
  Told told_;
  std::unique_ptr<Session> parent_;
  Loop::TimerId parent_timer_{};
  std::vector<Child> children_;
  std::vector<Place> places_;  // of the subtree, by rank
  bool has_table_ = false;
  bool said_up_ = false;
  bool ready_ = false;
  std::vector<Address> addresses_;
  std::vector<std::uint32_t> nodes_;
  Loop::Clock::time_point deadline_{};
};

}  // namespace thinwire::nccl::agree
