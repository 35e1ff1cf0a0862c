// State that a communicator's host threads and the helper share.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "agree/blocks.h"
#include "agree/ledger.h"

namespace thinwire::nccl::agree {

class Shared {
 public:
  Gate gate;
  Ledger collectives{gate};
  Blocks blocks{gate};

  Membership membership() const {
    const std::lock_guard lock(mutex_);
    return membership_;
  }
  State state() const { return state_.load(std::memory_order_relaxed); }
  void set(State state, std::string text) {
    {
      const std::lock_guard lock(mutex_);
      membership_ = {state, std::move(text)};
      state_.store(state, std::memory_order_relaxed);
    }
    changed_.notify_all();
  }
  // Before it becomes raw by this rank's own finding: others may be ready.
  void note_unsure() { unsure_.store(true, std::memory_order_relaxed); }
  bool is_unsure() const { return unsure_.load(std::memory_order_relaxed); }
  void wait_until_known() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return membership_.state != State::kForming; });
  }

  bool knows_siblings() const { return knows_siblings_.load(std::memory_order_relaxed); }
  void know_siblings(bool known) { knows_siblings_.store(known, std::memory_order_relaxed); }

  std::vector<std::uint32_t> nodes() const {
    const std::lock_guard lock(mutex_);
    return nodes_;
  }
  // Before it becomes ready.
  void set_nodes(std::vector<std::uint32_t> nodes) {
    const std::lock_guard lock(mutex_);
    nodes_ = std::move(nodes);
  }

  // The member has ended: nobody is to be told any more.
  void set_gone() {
    {
      const std::lock_guard lock(mutex_);
      gone_ = true;
    }
    changed_.notify_all();
  }
  void wait_until_gone(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return gone_; });
  }

  Ledger& pair(int rank, bool outgoing) {
    const std::lock_guard lock(mutex_);
    auto& found = pairs_[{rank, outgoing}];
    if (!found) found = std::make_unique<Ledger>(gate);
    return *found;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool gone_ = false;
  Membership membership_{State::kForming, "not known yet who has it"};
  std::vector<std::uint32_t> nodes_;
  std::atomic<bool> knows_siblings_{false};
  std::atomic<bool> unsure_{false};
  std::atomic<State> state_{State::kForming};  // that of membership_
  std::map<std::pair<int, bool>, std::unique_ptr<Ledger>> pairs_;
};

}  // namespace thinwire::nccl::agree
