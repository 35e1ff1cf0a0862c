// A step between the MPI and its launcher during MPI_Init, for launchers that hear one greeting a
// process (Slurm's, under `--mpi=pmi2`): there the capabilities can only be put between the MPI's
// own requests.
//
// The MPI's descriptor becomes one end of a socket pair, and a thread hands on what either side
// says. Before the first request that begins an exchange between the ranks it calls its user, who
// may ask the launcher meanwhile: neither side has said anything that is not answered. After
// MPI_Init the descriptor is the launcher's again, and the thread is gone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "shim/mpi/job/pmi_wire.h"

namespace thinwire::mpi {

class PmiRelay {
 public:
  // Asks the launcher between two requests of the MPI, which speaks that protocol. Returns the
  // number of answers that are still to come: they are nobody's, and are dropped.
  using Ask = std::function<int(pmi::Protocol)>;

  // `descriptor`: the MPI's, a stream socket. It stays the caller's.
  explicit PmiRelay(int descriptor) : of_mpi_(descriptor) {}
  ~PmiRelay();
  PmiRelay(const PmiRelay&) = delete;
  PmiRelay& operator=(const PmiRelay&) = delete;

  // Stands between from here on. `before_exchange` is called at most once, by the relay's thread.
  // False: the system refused a descriptor or a thread, or has hardly one left for the MPI, and
  // nothing has changed.
  bool begin(Ask before_exchange);

  // The launcher's end, for requests of `before_exchange` and after end(). It lives as long as
  // this does; -1 before begin().
  int launcher_end() const { return launcher_; }

  // After MPI_Init: hands on what has been said, and steps aside. May be called again. Nothing in a
  // process that was forked since begin().
  void end();

  // The process ends within MPI_Init: hands on what the MPI has told the launcher, waiting a moment
  // at most, and leaves all else as it is, as other threads may still be in there.
  void hand_on_last_words();

 private:
  bool open();
  bool is_of_this_process() const;
  void relay();
  bool hand_on_requests();
  bool hand_on_answers();
  void drop_owed(std::string& answers);
  void step_aside();

  int of_mpi_;
  int own_ = -1;       // the pair's other end
  int launcher_ = -1;  // a duplicate of what of_mpi_ was
  ino_t pair_ = 0;     // which of_mpi_ is meanwhile: the MPI may have closed it
  pid_t process_ = 0;  // which began
  int owed_ = 0;       // answers to drop
  std::string unsent_, late_;
  Ask before_exchange_;
  std::atomic<bool> ends_{false};     // because end() wants it
  std::atomic<bool> is_busy_{false};  // with what it has heard
  std::thread thread_;
};

}  // namespace thinwire::mpi
