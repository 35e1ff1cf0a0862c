#include "wire/message_classes.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "process/shortcut.h"

namespace thinwire::mpi {
namespace {

constexpr std::uint64_t kTogether = 8;
// Peers beyond so many classes stay with the others.
constexpr std::size_t kMostClasses = 1 << 14;
constexpr int kAllPeers = -1;

struct OfPeer {
  std::uint64_t messages = 0;  // before it has a class of its own
  std::optional<plan::MessageClass> own;
};

struct Classes {
  std::mutex mutex;  // guards all below, what the turns point to as well
  std::map<PlanClass, plan::MessageClass> of_all;
  std::map<std::pair<int, PlanClass>, OfPeer> of_peers;
};

Classes& classes() {
  static auto* const of_process = new Classes;
  return *of_process;
}

// Under the lock.
plan::MessageClass& class_of(Classes& here, const PlanClass& of, int world_rank,
                             bool begins_coded) {
  plan::MessageClass& all = here.of_all.try_emplace(of, begins_coded).first->second;
  const std::pair key{world_rank, of};
  const bool has_room = here.of_peers.size() < kMostClasses || here.of_peers.contains(key);
  if (world_rank == kAllPeers || !has_room) return all;
  OfPeer& peer = here.of_peers[key];
  if (peer.own) return *peer.own;
  if (peer.messages < kTogether) {
    ++peer.messages;
    return all;
  }
  return peer.own.emplace(all, peer.messages);
}

}  // namespace

TimedTurn next_turn(const PlanClass& of, int world_rank, const plan::Foreseen& foreseen,
                    bool begins_coded) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::uint64_t nanoseconds =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  Classes& here = classes();
  TimedTurn turn;
  plan::MessageClass after(false);
  std::uint32_t trials_before = 0;
  {
    const std::lock_guard lock(here.mutex);
    plan::MessageClass& found = class_of(here, of, world_rank, begins_coded);
    trials_before = found.trials();
    const plan::MessageTurn next =
        found.next(foreseen, nanoseconds, waits_so_far.load(std::memory_order_relaxed));
    const bool is_decided = found.trials() > 0 && found.is_timed();
    turn = {
        next.is_coded, next.is_trial, foreseen.pays, is_decided, is_decided ? found.saving() : 0,
        &found};
    if (plans_are_logged) [[unlikely]]
      after = found;
  }
  if (plans_are_logged && after.trials() > trials_before) [[unlikely]] {
    log_decision(
        of, {after.raw_nanoseconds(), after.coded_nanoseconds(), after.codes(), after.trials()});
  }
  return turn;
}

void note_frame(const TimedTurn& turn) {
  if (turn.of == nullptr || !turn.is_coded) return;
  const std::lock_guard lock(classes().mutex);
  turn.of->made_frame();
}

}  // namespace thinwire::mpi
