// Facts that the launcher knows of the job: its name, which ranks share this node, and which ranks
// run this library. It is learnt through the launcher's server on this node, without a message
// between ranks.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "shim/mpi/job/capabilities.h"
#include "shim/mpi/job/launcher.h"

namespace thinwire::mpi {

// When to ask again for what could not be learnt: soon at first, then once a second, however many
// messages wait for it.

class AskAgain {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kFirst = std::chrono::milliseconds(1);
  static constexpr Clock::duration kLongest = std::chrono::seconds(1);

  // Nothing is kept of ranks that answered.
  bool is_time(int rank, Clock::time_point now = Clock::now()) const {
    if (waiting_.load(std::memory_order_relaxed) == 0) return true;
    const std::lock_guard lock(mutex_);
    const auto found = ranks_.find(rank);
    return found == ranks_.end() || now >= found->second.next;
  }

  void failed(int rank, Clock::time_point now = Clock::now()) {
    const std::lock_guard lock(mutex_);
    const auto [at, first] = ranks_.try_emplace(rank, Wait{{}, kFirst});
    if (!first) at->second.pause = std::min(2 * at->second.pause, kLongest);
    at->second.next = now + at->second.pause;
    waiting_.store(ranks_.size(), std::memory_order_relaxed);
  }

  void answered(int rank) {
    if (waiting_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard lock(mutex_);
    ranks_.erase(rank);
    waiting_.store(ranks_.size(), std::memory_order_relaxed);
  }

 private:
  struct Wait {
    Clock::time_point next;
    Clock::duration pause;
  };
  mutable std::mutex mutex_;  // guards the map
  std::unordered_map<int, Wait> ranks_;
  std::atomic<std::size_t> waiting_{0};
};

struct CapabilitiesAnswer {
  bool known = true;  // false: it could not be learnt yet, or not understood
  std::optional<Capabilities> capabilities;
};

class Job {
 public:
  // How long ranks that must agree on capabilities ask for it.
  static constexpr std::chrono::milliseconds kPatience{30'000};

  explicit Job(std::unique_ptr<Launcher> launcher = nullptr,
               std::chrono::milliseconds patience = kPatience)
      : launcher_(std::move(launcher)), patience_(patience) {}

  // Before the MPI starts: the MPI's own start-up exchange then carries the capabilities. Without a
  // launcher that can be spoken to nothing is published and no peer is ever proven.
  void publish(const Capabilities& capabilities);

  // After MPI_Init: the job's name and the ranks on this node. Nothing below answers before.
  void learn_locality();

  // Whether peers can be asked for after expect_threads().
  bool answers_with_threads() const { return !launcher_ || launcher_->answers_with_threads(); }

  // After MPI_Init with MPI_THREAD_MULTIPLE. False: no peer can be asked for from here on, because
  // the MPI may speak with the launcher at any moment.
  bool expect_threads();

  void leave();

  bool reachable() const { return launcher_ != nullptr; }
  const std::string& name() const { return name_; }
  bool on_this_node(int world_rank) const;
  int ranks_on_this_node() const { return static_cast<int>(local_.size()); }

  int first_rank_on_this_node() const { return local_.empty() ? 0 : local_.front(); }

  // Whether capabilities_of() can always say, whatever other threads do.
  bool always_answers() const { return !launcher_ || launcher_->always_answers(); }

  // Whether others find this rank's capabilities, and so expect what it sends.
  bool capabilities_are_out() const { return launcher_ && launcher_->capabilities_are_out(); }

  // The capabilities of a rank of this job; one query to the launcher's local server at most, and
  // none for a while after one that failed.
  CapabilitiesAnswer capabilities_of(int world_rank) const;

  // The same for what ranks must agree on: asks until it knows. Not known after all: the launcher
  // did not answer for so long that it will not.
  CapabilitiesAnswer insist_on_capabilities_of(int world_rank) const;

 private:
  CapabilitiesAnswer ask(int world_rank) const;

  std::unique_ptr<Launcher> launcher_;
  std::chrono::milliseconds patience_;
  mutable AskAgain ask_again_;
  std::string name_;
  std::vector<int> local_;  // ascending
};

// This process' rank before the MPI says it; nothing if no launcher does.
std::optional<int> rank_by_launcher();

}  // namespace thinwire::mpi
