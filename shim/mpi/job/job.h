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
#include "shim/mpi/job/node_cards.h"

namespace thinwire::mpi {

// Says when to ask again for a rank that the launcher could not tell of: after a millisecond at
// first, then after ever longer pauses, up to a second, however many messages wait for the answer.
class AskAgain {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kFirst = std::chrono::milliseconds(1);
  static constexpr Clock::duration kLongest = std::chrono::seconds(1);

  // True of ranks for which no question has failed since the last answer.
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

  // Called before the MPI starts, whose own start-up exchange then carries the capabilities. If no
  // launcher can be reached nothing is published, and no rank is known to run this library.
  void publish(Capabilities capabilities);

  // Called after MPI_Init by rank `own`: learns the job's name and the ranks on this node. Before
  // that all that is asked below is unanswered.
  void learn_locality(int own);

  // Says what expect_threads() would return.
  bool answers_with_threads() const { return !launcher_ || launcher_->answers_with_threads(); }

  // Called after MPI_Init with MPI_THREAD_MULTIPLE. False: capabilities_of() learns nothing from
  // here on, because the MPI may speak with the launcher at any moment.
  bool expect_threads();

  // Has ranks of this node ask for each rank of the job once together, before this rank, `own` of
  // so many, asks for many. False: they cannot.
  bool share_on_node(int own, int ranks) const;

  // Lets go of the launcher, before MPI_Finalize; nobody is asked any more.
  void leave();

  // Whether there is a launcher to ask.
  bool reachable() const { return launcher_ != nullptr; }
  const std::string& name() const { return name_; }
  bool on_this_node(int world_rank) const;
  int ranks_on_this_node() const { return static_cast<int>(local_.size()); }

  // How many of them have a lower rank.
  std::size_t place_on_this_node(int world_rank) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(local_, world_rank) - local_.begin());
  }

  int first_rank_on_this_node() const { return local_.empty() ? 0 : local_.front(); }

  // False: capabilities_of() may be unable to ask now, as another thread is in a call of the MPI.
  bool always_answers() const { return !launcher_ || launcher_->always_answers(); }

  // Whether others find this rank's capabilities, and so expect what it sends.
  bool capabilities_are_out() const { return launcher_ && launcher_->capabilities_are_out(); }

  // The capabilities of a rank of this job; one query to the launcher's local server at most, and
  // none for a while after one that failed.
  CapabilitiesAnswer capabilities_of(int world_rank) const;

  // As capabilities_of(), but asks until the answer is known, as ranks that must agree need it. An
  // answer that is still not known then: the launcher is lost, or silent for `patience`.
  CapabilitiesAnswer insist_on_capabilities_of(int world_rank) const;

 private:
  CapabilitiesAnswer ask(int world_rank) const;

  std::unique_ptr<Launcher> launcher_;
  std::chrono::milliseconds patience_;
  mutable AskAgain ask_again_;
  mutable NodeCards cards_;
  mutable std::mutex sharing_;  // guards what follows
  mutable bool has_shared_ = false;
  std::string name_;
  std::vector<int> local_;  // ascending
};

// This process' rank before the MPI says it; nothing if no launcher does.
std::optional<int> rank_by_launcher();

}  // namespace thinwire::mpi
