// Calls of the program that make communicators, and when the library may make one of its own.
//
// Open MPI makes communicators one after another in each process; MPICH does not. One that the
// library makes amid a collective would keep back the program's other threads, or be kept back by
// them, though the program has them wait for each other in another order: each rank would then wait
// for another's thread. So the library makes one only while no rank of it has another under way.
#pragma once

#include <memory>

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

#ifdef MPICH_VERSION
constexpr bool kMadeOneAfterAnother = false;
#else
constexpr bool kMadeOneAfterAnother = true;  // or not known
#endif

// A call of the program's that makes a communicator, or something that has one inside. Waits while
// the library makes one, which waits for nothing of the program. It lies in the call's own frame:
// one that the program leaves by longjmp() ends when the thread next makes a communicator, or comes
// to where the library would.
class Creation {
 public:
  Creation();
  ~Creation();
  Creation(const Creation&) = delete;
  Creation& operator=(const Creation&) = delete;

  // The call has returned before its communicator is made: it is under way until `request` is
  // complete.
  void goes_on(MPI_Request* request);

 private:
  bool counts_ = false;  // not if part of another one in this thread
};

// While it lives, this process makes no communicator but the one that this thread makes.
class QuietTime {
 public:
  QuietTime();
  ~QuietTime();
  QuietTime(const QuietTime&) = delete;
  QuietTime& operator=(const QuietTime&) = delete;

  // False: some are under way. It does not wait for those.
  bool has_begun() const { return has_begun_; }

 private:
  bool has_begun_ = false;
};

bool creations_are_under_way();

}  // namespace thinwire::mpi
