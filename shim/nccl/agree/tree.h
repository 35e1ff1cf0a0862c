// A rank's connections to its parent and its children in the tree.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agree/link.h"
#include "agree/shape.h"

namespace thinwire::nccl::agree {

constexpr int kFromParent = -1;

class Tree {
 public:
  struct Told {
    std::function<void()> ready;
    std::function<void(const std::string& why)> failed;  // before that
    std::function<void(int rank)> lost;                  // after that
    // From the parent (kFromParent) or a child, 0 and so on; after `ready`, or `Broken` at any
    // time.
    std::function<void(int from, Message&&)> message;
  };

  // `time`: for its connections, once the addresses are known.
  Tree(Loop& loop, const Secret& secret, int rank, int ranks, std::chrono::milliseconds time,
       Told told);
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // The parent has come.
  void adopt(std::unique_ptr<Link> parent);
  bool has_parent() const { return parent_ != nullptr; }
  // The subtree's ranks, this one among them.
  void take(const Table& table);

  void up(const Message& message);
  void down(const Message& message);
  void down(int child, const Message& message);
  // To all neighbours but one: kFromParent, a child, or kFromNobody.
  static constexpr int kFromNobody = -2;
  void around(int but, const Message& message);
  void around(int but, const SharedBytes& packed);

  bool is_ready() const { return ready_; }
  int children() const { return static_cast<int>(children_.size()); }
  int neighbours() const { return children() + (parent_ ? 1 : 0); }
  // Where the first ranks are: kMeetingPlaces at most.
  const std::vector<Address>& first() const { return first_; }
  // The node of each rank, once it is ready.
  const std::vector<std::uint32_t>& nodes() const { return nodes_; }
  // Of a rank of the subtree.
  std::optional<Address> address_of(int rank) const;

  bool has_unsent() const;
  // Sends what is queued and ends; nobody is told any more.
  void dismiss();

 private:
  struct Child {
    std::unique_ptr<Link> link;
    bool up = false;
    Loop::TimerId retry{};
    std::chrono::milliseconds delay = kFirstRetry;
  };

  bool fits(const Table& table) const;
  void connect(int child);
  void child_ended(int child, const std::string& why);
  void take_from_parent(Message&& message);
  void take_from_child(int child, Message&& message);
  void settle();
  void become_ready(const Ready& with);
  void fail(const std::string& why);

  Loop& loop_;
  const Secret secret_;
  const int rank_;
  const int ranks_;
  const std::chrono::milliseconds time_;
  Told told_;
  std::unique_ptr<Link> parent_;
  std::vector<Child> children_;
  std::vector<Place> places_;  // by rank
  bool has_table_ = false;
  bool said_up_ = false;
  bool ready_ = false;
  std::vector<Address> first_;
  std::vector<std::uint32_t> nodes_;
  Loop::Clock::time_point deadline_{};
};

}  // namespace thinwire::nccl::agree
