// A collective that is compressed as a whole, as tw_comm_run() takes it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "shim/mpi/collective/lists.h"
#include "shim/mpi/collective/part.h"
#include "shim/mpi/collective/transport.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/collective_arguments.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Runs compressed collectives of a communicator, one after the other.

// A communicator that the program knows nothing of. Freed with its last owner.
class PrivateComm {
 public:
  // Takes ownership.
  explicit PrivateComm(MPI_Comm comm);
  ~PrivateComm();
  PrivateComm(const PrivateComm&) = delete;
  PrivateComm& operator=(const PrivateComm&) = delete;

  MPI_Comm comm() const { return comm_; }

  // How many there are in this process.
  static int live();

 private:
  MPI_Comm comm_;
};
using PrivateCommPointer = std::shared_ptr<PrivateComm>;

// Call queues of one communicator are told apart by their tags, and may run at once. A queue is
// used by one thread at a time.
class CallQueue {
 public:
  CallQueue() = default;
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Collective over `own`, whose ranks are on these nodes; the tag is the same on all of them, and
  // no other queue's. On failure tw_last_error() says why, on every rank.
  // `link`: in bytes per second, by which calls are planned, the same on all of them; 0: not known.
  // `rate`: of the network, whether or not calls are planned by it.
  tw_status open(PrivateCommPointer own, int tag, const std::vector<std::int32_t>& nodes,
                 double link, double rate);

  // Collective, with nothing under way: the network's rate, as all ranks have it.
  void set_rate(double rate) { transport_->set_rate(rate); }

  tw_comm* comm() const { return comm_; }

  // The MPI's error of the first message that failed since it was last asked, or MPI_SUCCESS.
  int take_error() { return transport_->take_error(); }

  // Who runs what follows.
  void set_waiter(Waiting::Who who, const std::atomic<unsigned>* wanted = nullptr) {
    transport_->set_waiter(who, wanted);
  }

  Lists lists;  // of the call under way

 private:
  PrivateCommPointer own_;
  std::unique_ptr<MpiTransport> transport_;
  tw_comm* comm_ = nullptr;
};

// Whether the operation has a schedule of that algorithm and coding; PLANNED stands for any.
bool has_schedule(std::uint32_t operation, std::uint32_t algorithm, std::uint32_t coding);

// Describes the call with the buffers as the program names them, gaps and all. Borrows `lists`,
// which it fills.
tw_collective describe(const CollectiveArguments& arguments, const Part& part, Lists& lists);

// Runs it, described with the queue's lists; packs and unpacks what has gaps. Returns an MPI
// error code, logged and not raised.
int run_described(const CollectiveArguments& arguments, const Part& part, tw_collective& collective,
                  CallQueue& queue);

}  // namespace thinwire::mpi
