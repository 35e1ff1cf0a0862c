#include "shim/mpi/collective/live.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "shim/common/endless.h"
#include "shim/mpi/choose/ending.h"
#include "shim/mpi/collective/groups.h"
#include "shim/mpi/native/keyval.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {

std::atomic<std::uint64_t> wanted_collectives{0};

namespace {

Keyval g_keyval;

// A communicator of the program, and what is kept with it: the value of its attribute.
struct Live {
  MPI_Comm comm;
  Collectives* collectives;
  bool is_attribute = false;
};

// Guards the list, and of what is in it what revoke_collectives_of() takes.
std::mutex g_live_mutex;
constinit shim::Endless<std::vector<std::unique_ptr<Live>>> g_all_live;
std::vector<std::unique_ptr<Live>>& g_live =
    g_all_live.object;  // in the order in which they were made

extern "C" int thinwire_collectives_not_copied(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

// The communicator inside is freed outside of this callback.
extern "C" int thinwire_collectives_deleted(MPI_Comm, int, void* live, void*) {
  static_cast<Live*>(live)->is_attribute = false;
  return MPI_SUCCESS;
}

void attach(Live& live) {
  const int keyval = g_keyval.get_or([](int* made) {
    real().Comm_create_keyval(thinwire_collectives_not_copied, thinwire_collectives_deleted, made,
                              nullptr);
  });
  live.is_attribute = real().Comm_set_attr(live.comm, keyval, &live) == MPI_SUCCESS;
}

// MPICH 4.0 loses an attribute that is set while MPI_Comm_delete_attr calls a callback of the
// program, and then deletes nothing.
void detach(Live& live) {
  if (live.is_attribute) real().Comm_delete_attr(live.comm, g_keyval.get());
  live.is_attribute = false;
}

Live* find_live(MPI_Comm comm) {
  const std::lock_guard lock(g_live_mutex);
  const auto found = std::ranges::find(g_live, comm, [](const auto& live) { return live->comm; });
  return found == g_live.end() ? nullptr : found->get();
}

void enlist(MPI_Comm comm, Collectives& kept) {
  ++kept.users;
  auto live = std::make_unique<Live>(Live{comm, &kept});
  if (Ending* const ending = Ending::of(comm)) {
    ending->collectives = &kept;
  } else {
    attach(*live);
  }
  const std::lock_guard lock(g_live_mutex);
  g_live.push_back(std::move(live));
}

// Takes those that are to go off the list.
template <typename Goes>
std::vector<std::unique_ptr<Live>> take_off(Goes&& goes) {
  std::vector<std::unique_ptr<Live>> taken;
  const std::lock_guard lock(g_live_mutex);
  for (auto& live : g_live) {
    if (goes(*live)) taken.push_back(std::move(live));
  }
  std::erase(g_live, nullptr);
  return taken;
}

void end(Collectives* kept) {
  --kept->users;
  end_if_unused(kept);
}

// Ends those that are to go, in the order in which they were made.
template <typename Goes>
void release_if(Goes&& goes) {
  for (const auto& live : take_off(goes)) {
    detach(*live);
    end(live->collectives);
  }
}

}  // namespace

void end_if_unused(Collectives* kept) {
  if (kept->users > 0 || kept->is_shared) return;
  if (wants_a_call(kept)) --wanted_collectives;
  remember_kinds(kept->world_ranks, kept->kinds);
  delete kept;
}

Collectives& keep(MPI_Comm comm) {
  auto* kept = new Collectives;
  kept->why = NativeReason::kNotYet;
  real().Comm_rank(comm, &kept->rank);
  enlist(comm, *kept);
  return *kept;
}

Collectives& keep_shared(MPI_Comm comm, Collectives* wanted, Collectives& shared) {
  if (wanted == nullptr) {
    enlist(comm, shared);
    return shared;
  }
  ++shared.users;
  if (Live* const live = find_live(comm)) live->collectives = &shared;
  if (Ending* const ending = Ending::of(comm)) ending->collectives = &shared;
  end(wanted);
  return shared;
}

Collectives* known_collectives(MPI_Comm comm) {
  if (const Ending* const ending = Ending::of(comm)) return ending->collectives;
  if (!g_keyval.is_made()) return nullptr;
  void* live = nullptr;
  int found = 0;
  real().Comm_get_attr(comm, g_keyval.get(), &live, &found);
  if (found) return static_cast<Live*>(live)->collectives;
  Live* const lost = find_live(comm);
  if (lost == nullptr || !lost->is_attribute) return nullptr;
  attach(*lost);
  return lost->collectives;
}

void want_costs(Collectives& kept) {
  if (std::exchange(kept.wants_costs, true)) return;
  ++wanted_collectives;
}

void set_private(Collectives& kept, MPI_Comm own) {
  const std::lock_guard lock(g_live_mutex);
  kept.own = std::make_shared<PrivateComm>(own);
  if (kept.revoke != nullptr) kept.revoke(own);
}

void revoke_collectives_of(MPI_Comm comm, int (*revoke)(MPI_Comm)) {
  const std::lock_guard lock(g_live_mutex);
  for (const auto& live : g_live) {
    if (live->comm != comm) continue;
    live->collectives->revoke = revoke;
    if (live->collectives->own) revoke(live->collectives->own->comm());
  }
}

void take_collectives_along(Ending& ending) {
  Live* const live = find_live(ending.comm());
  if (live == nullptr) return;
  ending.collectives = live->collectives;
  ending.collectives->wait_for_started();
  detach(*live);
}

// Another thread may have been given the handle since.
void end_collectives_of(Ending& ending) {
  Collectives* const kept = std::exchange(ending.collectives, nullptr);
  if (kept == nullptr) return;
  if (!ending.has_ended) {
    if (Live* const live = find_live(ending.comm())) attach(*live);
    return;
  }
  const auto goes = [&](const Live& live) {
    return live.comm == ending.comm() && live.collectives == kept && !live.is_attribute;
  };
  for (const auto& live : take_off(goes)) end(live->collectives);
}

void release_collectives_of_world() {
  stop_sharing();
  release_if(
      [](const Live& live) { return live.comm == MPI_COMM_WORLD || live.comm == MPI_COMM_SELF; });
}

void release_collectives() {
  stop_sharing();
  release_if([](const Live&) { return true; });
  g_keyval.release([](int* made) { real().Comm_free_keyval(made); });
}

}  // namespace thinwire::mpi
