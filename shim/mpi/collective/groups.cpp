#include "shim/mpi/collective/groups.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "shim/mpi/collective/live.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
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
