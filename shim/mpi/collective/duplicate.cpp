#include "shim/mpi/collective/duplicate.h"

#include <cstdint>

#include "shim/mpi/collective/creations.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/self.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Answers of the ranks about themselves; all of them do if each says 1.
struct Answers {
  std::int32_t is_alone = 1;  // no other thread makes one, or the MPI does not mind
  std::int32_t is_quiet = 1;  // no communicator is being made
  std::int32_t has_room = 1;
};

constexpr int kAnswers = 3;

// Agrees on the answers. If the ranks cannot agree, there is nothing to be had.
Answers agree(const Answers& own, MPI_Comm comm) {
  Answers all{.is_alone = 0, .is_quiet = 1, .has_room = 0};
  real().Allreduce(&own, &all, kAnswers, MPI_INT32_T, MPI_MIN, comm);
  return all;
}

// A duplicate would call the program's attribute functions.
MPI_Comm split_privately(MPI_Comm comm) {
  int rank = 0;
  real().Comm_rank(comm, &rank);
  MPI_Comm made = MPI_COMM_NULL;
  if (real().Comm_split(comm, 0, rank, &made) != MPI_SUCCESS) return MPI_COMM_NULL;
  real().Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

// To look for room makes a communicator too.
void look_for_room(Answers& own) { own.has_room = has_free_communicator() ? 1 : 0; }

Duplicate outcome_of(const Answers& all) {
  if (!all.is_quiet) return Duplicate::kNotNow;
  return all.has_room ? Duplicate::kMade : Duplicate::kNoRoom;
}

}  // namespace

// The program's error handler stays where it is, so nothing may go wrong that it would be told of:
// every rank finds out by itself first whether its MPI has a communicator left.
//
// Other threads of the program may have to go on before all ranks are here, so they are kept from
// making communicators only after that: the second agreement, and what follows, waits for no thread
// but those that are here.
Duplicate duplicate_privately(MPI_Comm comm, bool may, MPI_Comm& made) {
  Answers own{.is_alone = kMadeOneAfterAnother && process().concurrent ? 0 : 1,
              .is_quiet = creations_are_under_way() ? 0 : 1,
              .has_room = may ? 1 : 0};
  if (own.is_alone && own.is_quiet && may) look_for_room(own);
  Answers all = agree(own, comm);
  if (outcome_of(all) != Duplicate::kMade) return outcome_of(all);
  const QuietTime quiet;
  if (!all.is_alone) {
    own.is_quiet = quiet.has_begun() ? 1 : 0;
    if (own.is_quiet && !own.is_alone) look_for_room(own);
    all = agree(own, comm);
    if (outcome_of(all) != Duplicate::kMade) return outcome_of(all);
  }
  made = split_privately(comm);
  return made == MPI_COMM_NULL ? Duplicate::kNoRoom : Duplicate::kMade;
}

// Open MPI, which makes one at a time, has many.
MPI_Comm duplicate_as_asked(MPI_Comm comm) {
  const Creation creation;
#ifndef OPEN_MPI
  if (const Answers all = agree({.has_room = has_free_communicator() ? 1 : 0}, comm);
      !all.has_room) {
    return MPI_COMM_NULL;
  }
#endif
  return split_privately(comm);
}

}  // namespace thinwire::mpi
