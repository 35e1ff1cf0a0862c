#include "shim/mpi/collective/groups.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "shim/mpi/collective/creations.h"
#include "shim/mpi/collective/live.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/world.h"
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
  real().Comm_set_errhandler(made, errors_return());
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

namespace {

// A private communicator each, also while no communicator of the group is left.
constexpr std::size_t kMostShared = 4;

#ifdef OPEN_MPI
constexpr bool kCommunicatorsAreMany = true;
#else
constexpr bool kCommunicatorsAreMany = false;
#endif

// MPICH and its relatives have some 2000 in a process, which a program may need. With threads none
// is shared.
constexpr int kMostPrivate = 6, kMostWithThreads = 16;

std::mutex g_shared_mutex;  // guards the map
std::map<std::vector<int>, Collectives*>& all_shared() {
  static auto* const of_process = new std::map<std::vector<int>, Collectives*>;
  return *of_process;
}

// A communicator that is revoked must not take others with it. Open MPI 5 says to its processes
// whether communicators may be.
bool may_be_revoked() {
  const char* const enabled = std::getenv("OMPI_MCA_mpi_ft_enable");
  return enabled != nullptr && std::string_view(enabled) != "0";
}

}  // namespace

bool can_share() {
  // A policy tells communicators of the same ranks apart by their names.
  if (process().concurrent || process().settings.policy != nullptr || may_be_revoked())
    return false;
  const std::lock_guard lock(g_shared_mutex);
  return all_shared().size() < kMostShared;
}

void share(Collectives& kept) {
  const std::lock_guard lock(g_shared_mutex);
  kept.is_shared = all_shared().emplace(kept.world_ranks, &kept).second;
}

Collectives* find_shared(const std::vector<int>& world_ranks) {
  const std::lock_guard lock(g_shared_mutex);
  const auto found = all_shared().find(world_ranks);
  return found == all_shared().end() ? nullptr : found->second;
}

bool anything_is_shared() {
  const std::lock_guard lock(g_shared_mutex);
  return !all_shared().empty();
}

void stop_sharing() {
  std::map<std::vector<int>, Collectives*> ended;
  {
    const std::lock_guard lock(g_shared_mutex);
    ended.swap(all_shared());
  }
  for (const auto& [ranks, kept] : ended) {
    kept->is_shared = false;
    end_if_unused(kept);
  }
}

bool may_make_private() {
  const int most = process().concurrent ? kMostWithThreads : kMostPrivate;
  return kCommunicatorsAreMany || PrivateComm::live() < most;
}

}  // namespace thinwire::mpi
