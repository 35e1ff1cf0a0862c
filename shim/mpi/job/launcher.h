// One way to reach what the launcher knows: PMIx (Open MPI, Slurm, any PMIx server) or PMI-1
// (hydra, the launcher of MPICH and its kin).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace thinwire::mpi {

// The answer about a rank's capabilities. "Not known now" is not "no capabilities": the rank may
// have some, and may have read this rank's. Only a launcher that says that there are none makes it
// "none".
struct CapabilitiesText {
  bool known = true;
  std::optional<std::string> text;
};

class Launcher {
 public:
  Launcher() = default;
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  virtual ~Launcher() = default;

  // Before the MPI starts; the capabilities may be handed on while it does.
  virtual void publish(const std::string& capabilities) = 0;

  virtual void mpi_has_started() {}

  // From here on the MPI has started. False: no other rank can have seen the capabilities, and
  // nobody can be asked.
  virtual bool published() const = 0;
  virtual const std::string& job_name() const = 0;
  virtual std::vector<int> ranks_on_this_node() = 0;
  virtual CapabilitiesText capabilities_of(int world_rank) = 0;  // from any thread

  // False: capabilities_of() may be unable to ask now, as another thread is in a call of the MPI.
  virtual bool always_answers() const = 0;

  // Whether every other rank finds this one's capabilities. False: some may find none.
  virtual bool capabilities_are_out() const { return published(); }

  // Whether nobody can be asked any more.
  virtual bool is_lost() const { return false; }

  // Says what expect_threads() would return; changes nothing.
  virtual bool answers_with_threads() const { return true; }

  // Notes that several threads will call the MPI at once. False: nobody can be asked from here on.
  virtual bool expect_threads() { return true; }
};

// Held around an MPI call in which the MPI itself may speak with the launcher: MPI_Comm_spawn and
// _multiple; MPI_Publish_name, _Unpublish_name and _Lookup_name; MPI_Comm_get_attr and
// MPI_Attr_get of MPI_UNIVERSE_SIZE; MPI_Session_init and _finalize, MPI_Comm_create_from_group and
// MPI_Intercomm_create_from_groups; and of the calls that ask who died MPIX_Comm_shrink. Ports,
// accept, connect and disconnect do without the launcher. If both speak on one descriptor, what
// must be asked meanwhile is not known now. Waits for an exchange under way, never for another such
// call. It lies in the call's own frame, and ends when the thread next asks, or makes such a call,
// if the program has left the call by longjmp().
class LauncherCall {
 public:
  LauncherCall();
  ~LauncherCall();
  LauncherCall(const LauncherCall&) = delete;
  LauncherCall& operator=(const LauncherCall&) = delete;
};

// Nullptr if the environment names no launcher of this kind.
std::unique_ptr<Launcher> find_pmix_launcher();
std::unique_ptr<Launcher> find_pmi_launcher();

}  // namespace thinwire::mpi
