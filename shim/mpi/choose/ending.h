// Communicators that the program is freeing. The delete callbacks of its attributes may use such a
// communicator, which is whole until they have returned, while the MPI deletes the library's
// attributes in any order: what is kept with it is kept here meanwhile.
#pragma once

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/under_way.h"

namespace thinwire::mpi {

struct CommFacts;
struct Collectives;

// Lives as long as the MPI's call, in the thread that made it, which callbacks run in too.
class Ending final : UnderWay {
 public:
  explicit Ending(MPI_Comm comm);
  ~Ending();

  // The one of `comm` in this thread, or nullptr.
  static Ending* of(MPI_Comm comm);

  MPI_Comm comm() const { return comm_; }

  // The MPI's call succeeded: else all that is here goes back to the communicator.
  bool has_ended = false;

  CommFacts* facts = nullptr;  // after the MPI has deleted the attribute, or made in a callback
  Collectives* collectives = nullptr;

 private:
  void before_handler(int error) override;
  void leave();
  MPI_Comm comm_;
  bool is_known_ = true;  // to of()
  Ending* outer_;         // a callback may free another communicator
};

}  // namespace thinwire::mpi
