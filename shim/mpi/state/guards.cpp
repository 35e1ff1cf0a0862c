#include "shim/mpi/state/guards.h"

#include <sched.h>

#include <array>
#include <mutex>

#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

constinit thread_local Guard* held_guard = nullptr;

namespace {

// Threads count in places of their own, or receives would wait for each other's cache lines.
constexpr unsigned kPlaces = 64;
struct alignas(64) Place {
  std::atomic<int> posting{0};
};
std::array<Place, kPlaces> g_places;
std::atomic<unsigned> g_threads{0};
std::atomic<bool> g_pulling{false};
std::mutex g_one_puller;

Place& own_place() {
  thread_local Place* const place = &g_places[g_threads.fetch_add(1) % kPlaces];
  return *place;
}

void wait_until_posted() {
  for (Place& place : g_places) {
    while (place.posting.load(std::memory_order_seq_cst) != 0) sched_yield();
  }
}

}  // namespace

Guard::Guard(Kind kind) : kind_(kind) {
  if (kind_ != Kind::kNone) enter();
}

void Guard::enter() {
  give_up_guard();
  held_guard = this;
  if (kind_ == Kind::kPull) {
    g_one_puller.lock();
    g_pulling.store(true, std::memory_order_seq_cst);
    return wait_until_posted();
  }
  std::atomic<int>& posting = own_place().posting;
  for (;;) {
    posting.fetch_add(1, std::memory_order_seq_cst);
    if (!g_pulling.load(std::memory_order_seq_cst)) return;
    posting.fetch_sub(1, std::memory_order_seq_cst);
    while (g_pulling.load(std::memory_order_relaxed)) sched_yield();
  }
}

void Guard::release() {
  const Kind kind = kind_;
  kind_ = Kind::kNone;
  if (kind == Kind::kNone) return;
  held_guard = nullptr;
  if (kind == Kind::kPost) {
    own_place().posting.fetch_sub(1, std::memory_order_release);
    return;
  }
  g_pulling.store(false, std::memory_order_seq_cst);
  g_one_puller.unlock();
}

PostGuard::PostGuard(bool is_needed) : Guard(is_needed ? Kind::kPost : Kind::kNone) {}
PullGuard::PullGuard()
    : Guard(process().concurrent ? Kind::kPull : Kind::kNone), alone_(!process().concurrent) {}

}  // namespace thinwire::mpi
