// How a communicator's compressed calls end: by a failure, and with the communicator.
#include <atomic>
#include <utility>

#include "native/refused.h"
#include "run/coder.h"
#include "run/memory.h"
#include "state/settings.h"

namespace thinwire::nccl {

// NCCL may still put work of a communicator that does not block on the stream.
void Coder::fail(const Call& call) {
  failed_ = true;
  bool is_known = false;
  if (blocks_ && !call.is_captured()) allowed([&] { is_known = marks_failure(call); });
  if (!is_known) lose();
}

bool Coder::marks_failure(const Call& call) {
  Lent& lent = lent_to(call.stream, kNoGroup, false);
  if (lent.idle() || lent.failed != nullptr) return true;
  lent.failed = take_clock(nullptr);
  return lent.failed != nullptr && enqueue_time(call, lent.failed, 1);
}

void Coder::drop_flights(Lent& lent) {
  while (lent.first() != nullptr) {
    Flight* const flight = lent.pop();
    if (flight->plan != nullptr) flight->plan->users.fetch_sub(1, std::memory_order_release);
    Flight* const before = std::exchange(flight->behind, nullptr);
    if (before != nullptr) flights_.give_back(before);
    flights_.give_back(flight);
  }
}

void Coder::end(bool is_gone) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  is_gone_ = is_gone_ || is_gone;
}

// After an abort the thread that makes the calls may be in decide().
void Coder::release() {
  released_ = true;
  agreed_->close();
  if (!is_lost_) give_back();
  is_over_.store(true, std::memory_order_release);
}

void Coder::give_back() {
  if (!aborted_) {
    plans_.clear();
    tw_stream_comm_destroy(stream_comm_);
  }
  const std::lock_guard lock(lent_mutex_);  // an abort may come now
  for (const auto& each : lent_) each->release_all();
  if (last_end_ != nullptr) flights_.give_back(std::exchange(last_end_, nullptr));
  flights_.release_all();
  if (references_ == nullptr) return;
  held_.give(settings().references);
  give_working(std::exchange(references_, nullptr));
}

}  // namespace thinwire::nccl
