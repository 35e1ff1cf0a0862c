// Whether a call whose blocks would fit goes raw all the same, by what calls of its kind took; and
// times of calls on their streams: one before a call and one after it, both written in the order of
// the stream. A call begins where its communicator is free.
#include <algorithm>
#include <atomic>
#include <utility>

#include "native/refused.h"
#include "run/compressor.h"
#include "run/service.h"
#include "state/reason.h"
#include "state/settings.h"

namespace thinwire::nccl {
namespace {

// Calls between two of a kind, whose ends are noted: those of a step of training, about.
constexpr std::uint32_t kListened = 64;

constexpr std::uint64_t kTimeBytes = 64;  // a time before a call, and one after it

// 0: the stream has not come there.
std::uint64_t time_of(const InFlight& clock, int at) {
  auto* const times = static_cast<std::uint64_t*>(clock.record);
  return std::atomic_ref(times[at]).load(std::memory_order_acquire);
}

}  // namespace

bool Compressor::captured_goes_raw(const agree::Value& value, Decision& made) const {
  // A capacity that cannot follow the data would spill at every replay of data that has changed.
  const bool fits = settings().graphs || settings().codecs[made.codec].has_fixed_size();
  const bool is_timed = value.decided == 0 && value.timing_round != 0;
  if (!fits || is_timed) made.reason = kCaptured;
  if (made.reason == 0 && !value.codes) made.reason = kNotFaster;
  return made.reason != 0;
}

bool Compressor::goes_raw(const agree::Value& value, Decision& made) {
  made.turn = made.of[0]->turn(value, !settings().codecs[made.codec].lossless);
  if (made.turn->asks) {
    const std::lock_guard lock(mutex_);
    made.of[0]->ask(value.timing_round);
  }
  const bool waits = made.turn->is_before_timed;
  if (made.of[0]->waits(waits)) --waiting_;
  if (waits) {
    ++waiting_;
    listens_ = kListened;
  } else if (waiting_ == 0) {
    listens_ = 0;
  }
  if (made.turn->codes) return false;
  made.reason = value.timing_round > value.decided ? kBeingTimed : kNotFaster;
  return true;
}

InFlight* Compressor::take_clock(Kind* of) {
  InFlight* const clock = in_flight_pool_.take(kTimeBytes);
  if (clock == nullptr) return nullptr;
  clock->plan = nullptr;
  clock->of[0] = of;
  auto* const times = static_cast<std::uint64_t*>(clock->record);
  times[0] = times[1] = 0;
  return clock;
}

bool Compressor::enqueue_time(const Call& call, InFlight* clock, int at) {
  auto* const times = static_cast<std::uint64_t*>(clock->record);
  return tw_stream_time(stream_comm_, device_, times + at, call.stream) == TW_OK;
}

InFlight* Compressor::begin_time(const Call& call, const Decision& decision) {
  const std::lock_guard lock(mutex_);
  if (failed_ || ended_) return nullptr;
  InFlight* const clock = take_clock(decision.of[0]);
  if (clock == nullptr) {
    decision.of[0]->timed(*decision.turn, 0);
    return nullptr;
  }
  clock->turn = *decision.turn;
  if (enqueue_time(call, clock, 0)) {
    clock->after = last_end_;
    if (last_end_ != nullptr) ++last_end_->holders;
    return clock;
  }
  in_flight_pool_.give_back(clock);
  decision.of[0]->timed(*decision.turn, 0);
  return nullptr;
}

void Compressor::end_time(const Call& call, InFlight* clock) {
  if (clock == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (failed_) return;  // nothing comes after what says that all is past
  if (enqueue_time(call, clock, 1) && allowed([&] { keep_end(call, clock); })) return;
  // It is lost: the stream may still write what was put there before.
  clock->of[0]->timed(clock->turn, 0);
}

// A timing round waits for each of its calls.
void Compressor::lose_time(const Decision& decision) noexcept {
  allowed([&] {
    const std::lock_guard lock(mutex_);
    decision.of[0]->timed(*decision.turn, 0);
  });
}

void Compressor::note_end(const Call& call) {
  if (!times_next_call()) return;
  --listens_;
  const std::lock_guard lock(mutex_);
  if (failed_ || ended_) return;
  InFlight* const clock = take_clock(nullptr);
  if (clock == nullptr) return;
  if (enqueue_time(call, clock, 1)) {
    keep_end(call, clock);
  } else {
    in_flight_pool_.give_back(clock);
  }
}

// The service thread has let go of it if nothing was under way since the call began.
void Compressor::keep_end(const Call& call, InFlight* clock) {
  look_after(*this);
  memory_for(call.stream, kNoGroup, false).push(clock);
  ++clock->holders;
  if (last_end_ != nullptr) in_flight_pool_.give_back(last_end_);
  last_end_ = clock;
}

bool Compressor::has_ended(InFlight& clock) {
  const std::uint64_t end = time_of(clock, 1);
  if (end == 0) return false;
  if (clock.of[0] == nullptr) return true;
  std::uint64_t begin = time_of(clock, 0);
  if (InFlight* const before = std::exchange(clock.after, nullptr)) {
    // Time that it waited for another is not its own. A later end is of a stream that was held up.
    const std::uint64_t ended = time_of(*before, 1);
    if (ended < end) begin = std::max(begin, ended);
    in_flight_pool_.give_back(before);
  }
  // A clock's step counts at the least: 0 would say that nobody knows.
  clock.of[0]->timed(clock.turn, end > begin ? end - begin : 1);
  return true;
}

}  // namespace thinwire::nccl
