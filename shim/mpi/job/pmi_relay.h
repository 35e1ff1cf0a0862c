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

#include <functional>
#include <string>
#include <thread>

#include "shim/mpi/job/pmi_wire.h"

namespace thinwire::mpi {

class PmiRelay {
 public:
  // `descriptor`: the MPI's, a stream socket. It stays the caller's.
  explicit PmiRelay(int descriptor) : of_mpi_(descriptor) {}
  ~PmiRelay();
  PmiRelay(const PmiRelay&) = delete;
  PmiRelay& operator=(const PmiRelay&) = delete;

  // Stands between from here on. `before_exchange` is called at most once, by the relay's thread,
  // with the protocol that the MPI speaks.
  // False: the system refused a descriptor or a thread, and nothing has changed.
  bool begin(std::function<void(pmi::Protocol)> before_exchange);

  // The launcher's end, for requests of `before_exchange` and after end(). It lives as long as
  // this does; -1 before begin().
  int launcher_end() const { return launcher_; }

  // After MPI_Init, or if the process ends within it: hands on what has been said, and steps aside.
  // May be called again.
  void end();

 private:
  bool open();
  void relay();
  bool hand_on_requests();
  bool hand_on_answers();
  void step_aside();

  int of_mpi_;
  int own_ = -1;       // the pair's other end
  int launcher_ = -1;  // a duplicate of what of_mpi_ was
  int wake_ = -1;
  ino_t pair_ = 0;  // which of_mpi_ is meanwhile: the MPI may have closed it
  std::string unsent_;
  std::function<void(pmi::Protocol)> before_exchange_;
  std::thread thread_;
};

}  // namespace thinwire::mpi
