#include "transport/local/local.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

namespace thinwire::transport {
namespace {

enum class State : int { kPosted, kDone, kTooLong };

// One side of a message. The other side completes it; its owner reads it after it is complete.
struct Side {
  std::atomic<State> state{State::kPosted};
  std::byte* into = nullptr;
  const std::byte* from = nullptr;
  std::uint64_t bytes = 0;
  int peer = 0;
};

// Messages that were posted towards one rank and have not met their other side yet, by sender.
struct Box {
  struct Pair {
    std::deque<Side*> sends, receives;
  };
  std::mutex mutex;
  std::unordered_map<int, Pair> from;
};

struct Group {
  explicit Group(int size)
      : boxes(static_cast<std::size_t>(size)),
        sides(static_cast<std::size_t>(size)),
        has_gone(static_cast<std::size_t>(size)) {}
  std::vector<Box> boxes;  // one a receiver
  // All there ever were of each rank; they keep their addresses, and outlive a rank that went
  // early.
  std::vector<std::deque<Side>> sides;
  std::vector<std::atomic<bool>> has_gone;
};

void deliver(Side& send, Side& receive) {
  const bool fits = send.bytes <= receive.bytes;
  if (fits && send.bytes > 0) std::memcpy(receive.into, send.from, send.bytes);
  receive.bytes = send.bytes;
  receive.state.store(fits ? State::kDone : State::kTooLong, std::memory_order_release);
  send.state.store(State::kDone, std::memory_order_release);
}

class Local final : public Transport {
 public:
  Local(std::shared_ptr<Group> group, int rank) : group_(std::move(group)), rank_(rank) {}

  ~Local() override { Local::give_up(); }

  // Nobody will find what this rank posted; whoever looks for it learns that the rank has gone.
  void give_up() override {
    group_->has_gone[static_cast<std::size_t>(rank_)] = true;
    for (std::size_t receiver = 0; receiver < group_->boxes.size(); ++receiver) {
      Box& box = group_->boxes[receiver];
      const std::lock_guard lock(box.mutex);
      const auto own = box.from.find(rank_);
      if (own != box.from.end()) own->second.sends.clear();
      if (static_cast<int>(receiver) != rank_) continue;
      for (auto& [sender, pair] : box.from) pair.receives.clear();
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(group_->boxes.size()); }

  Result<Ticket> post_send(int peer, ByteView bytes) override {
    Side* side = take(peer);
    side->from = bytes.data();
    side->bytes = bytes.size();
    Box& box = group_->boxes[static_cast<std::size_t>(peer)];
    const std::lock_guard lock(box.mutex);
    Box::Pair& pair = box.from[rank_];
    return meet(*side, pair.receives, pair.sends, [&](Side& receive) { deliver(*side, receive); });
  }

  Result<Ticket> post_receive(int peer, MutableByteView into) override {
    Side* side = take(peer);
    side->into = into.data();
    side->bytes = into.size();
    Box& box = group_->boxes[static_cast<std::size_t>(rank_)];
    const std::lock_guard lock(box.mutex);
    Box::Pair& pair = box.from[peer];
    return meet(*side, pair.sends, pair.receives, [&](Side& send) { deliver(send, *side); });
  }

  Result<std::uint32_t> test(std::span<const Ticket> tickets, Arrival* arrivals) override {
    std::uint32_t count = 0;
    for (std::uint32_t index = 0; index < tickets.size(); ++index) {
      Side* side = reinterpret_cast<Side*>(tickets[index]);
      // In this order: what its peer completed before it went is complete.
      const bool has_gone = group_->has_gone[static_cast<std::size_t>(side->peer)];
      const State state = side->state.load(std::memory_order_acquire);
      if (state == State::kPosted && has_gone) {
        return {StatusCode::kInternal, "rank " + std::to_string(side->peer) + " has gone"};
      }
      if (state == State::kPosted) continue;
      if (state == State::kTooLong) {
        return {StatusCode::kTooSmall, "a message is longer than what was posted for it"};
      }
      arrivals[count++] = {index, side->bytes};
      side->state.store(State::kPosted, std::memory_order_relaxed);
      free_.push_back(side);
    }
    return count;
  }

  void idle() override { std::this_thread::yield(); }

 private:
  Side* take(int peer) {
    Side* side = nullptr;
    if (free_.empty()) {
      side = &group_->sides[static_cast<std::size_t>(rank_)].emplace_back();
    } else {
      side = free_.back();
      free_.pop_back();
    }
    side->peer = peer;
    return side;
  }

  template <typename Deliver>
  static Ticket meet(Side& side, std::deque<Side*>& others, std::deque<Side*>& own,
                     Deliver&& deliver) {
    if (others.empty()) {
      own.push_back(&side);
    } else {
      Side* other = others.front();
      others.pop_front();
      deliver(*other);
    }
    return reinterpret_cast<Ticket>(&side);
  }

  std::shared_ptr<Group> group_;
  int rank_;
  std::vector<Side*> free_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> make_local(int size) {
  auto group = std::make_shared<Group>(size);
  std::vector<std::unique_ptr<Transport>> ends;
  for (int rank = 0; rank < size; ++rank) ends.push_back(std::make_unique<Local>(group, rank));
  return ends;
}

}  // namespace thinwire::transport
