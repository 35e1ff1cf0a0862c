#include "collectives/live.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "abi/keyval.h"
#include "abi/real.h"
#include "peers/ending.h"

namespace thinwire::mpi {

std::atomic<std::uint64_t> wanted_collectives{0};

namespace {

Keyval g_keyval;

// Guards the list, and of what is in it what revoke_collectives_of() takes.
std::mutex g_live_mutex;
std::vector<std::pair<MPI_Comm, Collectives*>> g_live;  // in the order in which they were made

extern "C" int thinwire_collectives_not_copied(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

// The communicator inside is freed outside of this callback.
extern "C" int thinwire_collectives_deleted(MPI_Comm, int, void* kept, void*) {
  static_cast<Collectives*>(kept)->is_attribute = false;
  return MPI_SUCCESS;
}

void attach(MPI_Comm comm, Collectives& kept) {
  const int keyval = g_keyval.get_or([](int* made) {
    real().Comm_create_keyval(thinwire_collectives_not_copied, thinwire_collectives_deleted, made,
                              nullptr);
  });
  kept.is_attribute = real().Comm_set_attr(comm, keyval, &kept) == MPI_SUCCESS;
}

void detach(MPI_Comm comm, Collectives& kept) {
  if (kept.is_attribute) real().Comm_delete_attr(comm, g_keyval.get());
}

void end(Collectives* kept) {
  if (wants_a_call(kept)) --wanted_collectives;
  remember_classes(kept->world_ranks, kept->classes);
  delete kept;
}

// Takes those that are to go off the list and ends them, in the order in which they were made.
template <typename Goes>
void release_if(Goes&& goes) {
  std::vector<std::pair<MPI_Comm, Collectives*>> ended;
  {
    const std::lock_guard lock(g_live_mutex);
    const auto ends = [&](const auto& live) { return goes(live.first); };
    std::copy_if(g_live.begin(), g_live.end(), std::back_inserter(ended), ends);
    std::erase_if(g_live, ends);
  }
  for (const auto& [comm, kept] : ended) {
    detach(comm, *kept);
    end(kept);
  }
}

}  // namespace

Collectives::~Collectives() {
  if (worker) worker->run_until_idle();
}

Collectives& keep(MPI_Comm comm) {
  auto* kept = new Collectives;
  kept->why = NativeReason::kNotYet;
  real().Comm_rank(comm, &kept->rank);
  if (Ending* const ending = Ending::of(comm)) {
    ending->collectives = kept;
  } else {
    attach(comm, *kept);
  }
  const std::lock_guard lock(g_live_mutex);
  g_live.emplace_back(comm, kept);
  return *kept;
}

Collectives* known_collectives(MPI_Comm comm) {
  if (const Ending* const ending = Ending::of(comm)) return ending->collectives;
  if (!g_keyval.is_made()) return nullptr;
  void* kept = nullptr;
  int found = 0;
  real().Comm_get_attr(comm, g_keyval.get(), &kept, &found);
  return found ? static_cast<Collectives*>(kept) : nullptr;
}

void set_private(Collectives& kept, MPI_Comm own) {
  const std::lock_guard lock(g_live_mutex);
  kept.own = std::make_shared<PrivateComm>(own);
  if (kept.revoke != nullptr) kept.revoke(own);
}

void revoke_collectives_of(MPI_Comm comm, int (*revoke)(MPI_Comm)) {
  const std::lock_guard lock(g_live_mutex);
  for (const auto& [live, collectives] : g_live) {
    if (live != comm) continue;
    collectives->revoke = revoke;
    if (collectives->own) revoke(collectives->own->comm());
  }
}

void take_collectives_along(Ending& ending) {
  {
    const std::lock_guard lock(g_live_mutex);
    const auto found =
        std::ranges::find(g_live, ending.comm(), [](auto& live) { return live.first; });
    if (found != g_live.end()) ending.collectives = found->second;
  }
  if (ending.collectives == nullptr) return;
  wait_for_started(*ending.collectives);
  detach(ending.comm(), *ending.collectives);
}

void end_collectives_of(Ending& ending) {
  Collectives* const kept = std::exchange(ending.collectives, nullptr);
  if (kept == nullptr) return;
  if (!ending.has_ended) return attach(ending.comm(), *kept);
  {
    const std::lock_guard lock(g_live_mutex);
    std::erase_if(g_live, [kept](const auto& live) { return live.second == kept; });
  }
  end(kept);
}

void release_collectives_of_world() {
  release_if([](MPI_Comm live) { return live == MPI_COMM_WORLD || live == MPI_COMM_SELF; });
}

void release_collectives() {
  release_if([](MPI_Comm) { return true; });
  g_keyval.release([](int* made) { real().Comm_free_keyval(made); });
}

}  // namespace thinwire::mpi
