#include "shim/mpi/choose/message_kinds.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "shim/mpi/choose/came.h"
#include "shim/mpi/choose/link_rate.h"
#include "shim/mpi/choose/watched.h"
#include "shim/mpi/state/fast_path.h"

namespace thinwire::mpi {
namespace {

constexpr std::uint64_t kTogether = 8;
// Peers beyond so many kinds stay with the others.
constexpr std::size_t kMostKinds = 1 << 14;
constexpr int kAllPeers = -1;

struct OfPeer {
  std::uint64_t messages = 0;  // before it has a kind of its own
  std::optional<choose::MessageKind> own;
};

// The message that is watched.
struct Watch {
  choose::MessageKind* of = nullptr;  // null: none is
  std::uintptr_t request = 0;         // 0: its thread's next message
  std::uint32_t wanted = 0;           // by other kinds, so often
};

// A kind whose message the program leaves alone is not waited for any longer.
constexpr std::uint32_t kMostWanted = 64;

struct Kinds {
  std::mutex mutex;  // guards all below, what the turns point to as well
  Watch watch;
  std::map<KindKey, choose::MessageKind> of_all;
  std::map<std::pair<int, KindKey>, OfPeer> of_peers;
};

Kinds& kinds() {
  static auto* const of_process = new Kinds;
  return *of_process;
}

// Under the lock.
choose::MessageKind& kind_of(Kinds& here, const KindKey& of, int world_rank, bool begins_coded) {
  choose::MessageKind& all = here.of_all.try_emplace(of, begins_coded).first->second;
  const std::pair key{world_rank, of};
  const bool has_room = here.of_peers.size() < kMostKinds || here.of_peers.contains(key);
  if (world_rank == kAllPeers || !has_room) return all;
  OfPeer& peer = here.of_peers[key];
  if (peer.own) return *peer.own;
  if (peer.messages < kTogether) {
    ++peer.messages;
    return all;
  }
  choose::MessageKind& own = peer.own.emplace(all, peer.messages);
  if (here.watch.of == &all && own.is_watched()) {
    here.watch.of = &own;
    all.drop_watched();
  }
  return own;
}

const void* this_thread() {
  constinit static thread_local char mark = 0;
  return &mark;
}

// The thread whose message is watched, until its request is known. Looked at without the lock:
// others than the thread itself never write its mark there.
std::atomic<const void*> watched_thread{nullptr};
// The program has seen the message complete: as it sends the next one, the connections tell what is
// under way.
std::atomic<bool> is_done{false};

// Under the lock, as what follows.
void end_watch(Watch& watch) {
  watch = {};
  watched_request.store(0, std::memory_order_relaxed);
  watched_thread.store(nullptr, std::memory_order_relaxed);
  is_done.store(false, std::memory_order_relaxed);
}

void note_complete(Watch& watch) {
  if (watch.of == nullptr) return;
  watch.of->note_complete();
  watched_request.store(0, std::memory_order_relaxed);
  watched_thread.store(nullptr, std::memory_order_relaxed);
  is_done.store(true, std::memory_order_relaxed);
}

void watch_if_wanted(Watch& watch, choose::MessageKind& of) {
  if (!of.wants_watch()) return;
  const bool is_free = watch.of == nullptr || !watch.of->is_watched();
  if (!is_free && ++watch.wanted < kMostWanted) return;
  if (!is_free) watch.of->drop_watched();
  end_watch(watch);
  of.watch();
  watch.of = &of;
  watched_thread.store(this_thread(), std::memory_order_relaxed);
}

bool is_of_this_thread() { return watched_thread.load(std::memory_order_relaxed) == this_thread(); }

// Messages of this size that are on their way, if that is to be known.
double messages_under_way(const KindKey& of) {
  if (!is_done.load(std::memory_order_relaxed) && !is_of_this_thread()) return 0;
  const double bytes = 0.75 * std::exp2(of.size_bits);
  return static_cast<double>(bytes_under_way(static_cast<tw_peer>(of.place))) / bytes;
}

}  // namespace

TimedTurn next_turn(const KindKey& of, int world_rank, const choose::Foreseen& foreseen,
                    bool begins_coded) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::uint64_t nanoseconds =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  const double under_way = messages_under_way(of);
  Kinds& here = kinds();
  TimedTurn turn;
  choose::MessageKind after(false);
  std::uint32_t rounds_before = 0;
  {
    const std::lock_guard lock(here.mutex);
    if (is_of_this_thread()) note_complete(here.watch);
    choose::MessageKind& found = kind_of(here, of, world_rank, begins_coded);
    if (is_done.load(std::memory_order_relaxed)) {
      here.watch.of->end_watch(under_way);
      end_watch(here.watch);
    }
    rounds_before = found.rounds();
    found.note_came(came_so_far(of.size_bits));
    const choose::MessageTurn next =
        found.next(foreseen, nanoseconds, waits_so_far.load(std::memory_order_relaxed));
    watch_if_wanted(here.watch, found);
    const bool is_decided = found.rounds() > 0 && found.is_timed();
    turn = {
        next.is_coded, next.is_in_round, foreseen.pays, is_decided, is_decided ? found.saving() : 0,
        &found};
    if (plans_are_logged) [[unlikely]]
      after = found;
  }
  if (plans_are_logged && after.rounds() > rounds_before) [[unlikely]] {
    log_decision(of,
                 {.raw_nanoseconds = after.raw_nanoseconds(),
                  .coded_nanoseconds = after.coded_nanoseconds(),
                  .standard_deviations =
                      after.is_timed() ? std::optional(after.deviations_faster()) : std::nullopt,
                  .is_coded = after.codes(),
                  .round = after.rounds()});
  }
  return turn;
}

void note_frame(const TimedTurn& turn) {
  if (turn.of == nullptr || !turn.is_coded) return;
  const std::lock_guard lock(kinds().mutex);
  turn.of->made_frame();
}

void watch_request(MPI_Request request) {
  if (request == MPI_REQUEST_NULL || !is_of_this_thread()) return;
  Kinds& here = kinds();
  const std::lock_guard lock(here.mutex);
  if (!is_of_this_thread()) return;
  here.watch.request = number_of(request);
  watched_thread.store(nullptr, std::memory_order_relaxed);
  watched_request.store(here.watch.request, std::memory_order_relaxed);
}

void watched_is_complete(std::uintptr_t request) {
  Kinds& here = kinds();
  const std::lock_guard lock(here.mutex);
  if (here.watch.request == request) note_complete(here.watch);
}

void watched_is_lost(std::uintptr_t request) {
  Kinds& here = kinds();
  const std::lock_guard lock(here.mutex);
  if (here.watch.of == nullptr || here.watch.request != request) return;
  here.watch.of->lose_watched();
  end_watch(here.watch);
}

}  // namespace thinwire::mpi
