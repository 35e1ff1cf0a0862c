#include "shim/mpi/collective/waiting.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <thread>

namespace thinwire::mpi {
namespace {

using std::chrono::microseconds;

// On a fast network the next piece is there within this many turns, well below a millisecond; on a
// slow one others may need the processor meanwhile.
constexpr std::uint32_t kTurnsBeforeYield = 1000;
// Turns of waiting if ranks share a processor: the next piece comes from a rank that has to run
// first.
constexpr std::uint32_t kTurnsWhereShared = 10;

// The library's thread spins for as long as going to sleep would take, and then lets the program's
// threads go first for as long as the other ranks may be about to answer.
constexpr microseconds kSpin{20};
constexpr microseconds kYield{1000};

// A sleep is a part of the wait so far, so that it adds little to it: an eighth of a short wait,
// and less of a long one. It is no longer than what a program would notice: meanwhile nobody may be
// moving this process' other messages. A turn costs some 40 us where system calls are slow.
constexpr int kPartOfShortWait = 8, kPartOfLongWait = 64;
constexpr microseconds kSleepInShortWait{200}, kLongestSleep{1000};

microseconds sleep_after(microseconds waited) {
  const auto in_short_wait = std::min(waited / kPartOfShortWait, kSleepInShortWait);
  return std::clamp(waited / kPartOfLongWait, in_short_wait, kLongestSleep);
}

}  // namespace

void Waiting::idle() {
  if (waits_as_library()) return idle_of_library();
  if (++turns_ > (shares_ ? kTurnsWhereShared : kTurnsBeforeYield)) sched_yield();
}

void Waiting::idle_of_library() {
  const auto now = std::chrono::steady_clock::now();
  if (turns_++ == 0) begin_ = now;
  const auto waited = now - begin_;
  if (waited < kSpin && !shares_) return;
  if (waited < kYield) {
    sched_yield();
    return;
  }
  std::this_thread::sleep_for(sleep_after(std::chrono::duration_cast<microseconds>(waited)));
}

bool outnumber_processors(int ranks) {
  cpu_set_t mine;
  // More processors than the set has room for are enough.
  return sched_getaffinity(0, sizeof mine, &mine) == 0 && ranks > CPU_COUNT(&mine);
}

void sleep_precisely() { prctl(PR_SET_TIMERSLACK, 1000); }

}  // namespace thinwire::mpi
