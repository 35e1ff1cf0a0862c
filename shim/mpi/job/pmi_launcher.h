// PMI-1 with hydra, the launcher of MPICH, Intel MPI and their kin, or with another launcher's
// server (Slurm's), on the descriptor that the MPI itself inherited (PMI_FD). No library offers it,
// so it is spoken here.
//
// When the MPI speaks there (MPICH 4.0, 4.3, 5.0 and Intel MPI 2021.18 under strace, and MPICH's
// source): in MPI_Init and MPI_Finalize, and in the calls that LauncherCall is for. Addresses of
// peers are exchanged in MPI_Init: a first message to a peer asks nothing, with threads neither.
// Two things are left: MPICH's older device, ch3, reads addresses at the first message; and a job
// that outlives a dead rank (-disable-auto-cleanup) asks who died at its next progress.
//
// Why capabilities arrive: the put is answered before MPI_Init, every MPI_Init of those MPIs
// returns only after all ranks entered it, and its barriers between nodes send on all that a node's
// ranks had put (seen with each rank late in turn, on one node and on two). Hydra hears two
// greetings, this library's and the MPI's. A server that may hear one only is asked between the
// MPI's requests, before its first barrier (pmi_relay.h).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "shim/mpi/job/launcher.h"
#include "shim/mpi/job/pmi_channel.h"
#include "shim/mpi/job/pmi_relay.h"

namespace thinwire::mpi {

class PmiLauncher final : public Launcher {
 public:
  // Waiting longer costs a job that can't start anyway; giving up too early would leave a late
  // answer to the MPI, which would take it for one of its own.
  static constexpr std::chrono::milliseconds kPatience{30'000};

  // `greetings`: how many the launcher hears of a process.
  enum class Greetings { kOne, kSeveral };

  PmiLauncher(int descriptor, int rank, int size, std::chrono::milliseconds patience = kPatience,
              Greetings greetings = Greetings::kSeveral)
      : relay_(descriptor),
        channel_(descriptor),
        rank_(rank),
        size_(size),
        patience_(patience),
        greetings_(greetings) {}

  void publish(const std::string& capabilities) override;
  void mpi_has_started() override { relay_.end(); }
  bool published() const override { return published_; }
  const std::string& job_name() const override { return name_; }
  std::vector<int> ranks_on_this_node() override { return local_; }
  CapabilitiesText capabilities_of(int world_rank) override;
  bool always_answers() const override { return false; }
  bool capabilities_are_out() const override { return put_is_answered_; }
  bool is_lost() const override;
  bool answers_with_threads() const override;
  bool expect_threads() override;

 private:
  void publish_now();
  bool greet();
  bool learn_limits(std::size_t& longest_key, std::size_t& longest_value);
  bool learn_name();
  bool learn_locality();
  bool put(const std::string& key, const std::string& value);

  PmiRelay relay_;
  pmi::Channel channel_;
  int rank_;
  int size_;
  std::chrono::milliseconds patience_;
  Greetings greetings_;
  std::string capabilities_;
  bool published_ = false;        // others may find the capabilities
  bool put_is_answered_ = false;  // they do
  bool may_ask_ = true;           // false: an answer could be the MPI's, or taken for one
  std::string name_;
  std::vector<int> local_;
};

}  // namespace thinwire::mpi
