// Facts that the launcher knows of the job: its name, which ranks share this node, and which ranks
// run this library. It is learnt through the launcher's server on this node, without a message
// between ranks.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shim/mpi/job/ask_again.h"
#include "shim/mpi/job/capabilities.h"
#include "shim/mpi/job/launcher.h"

namespace thinwire::mpi {

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
