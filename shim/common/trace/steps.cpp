#include "shim/common/trace/steps.h"

#include <algorithm>
#include <utility>

namespace thinwire::shim {

bool RepeatedRun::fits(std::uint32_t call, std::size_t calls) const {
  return calls != 0 && number_ >= calls && call == seen_[(number_ - calls) % kMost];
}

bool RepeatedRun::next(std::uint32_t call) {
  const bool fits_last = fits(call, last_);
  seen_[number_ % kMost] = call;
  ++number_;
  const bool begins = calls_ != 0 && fits_last && at_ == 0;
  note_fit(fits_last);
  if (number_ == due_) look();
  return begins;
}

// A run that was known is known again as soon as it has come twice.
void RepeatedRun::note_fit(bool fits_last) {
  if (last_ == 0) return;
  fitting_ = fits_last ? fitting_ + 1 : 0;
  if (!fits_last) {
    calls_ = 0;
  } else if (calls_ != 0) {
    at_ = at_ + 1 == calls_ ? 0 : at_ + 1;
  } else if (fitting_ == last_) {
    calls_ = last_;
    at_ = 0;
  }
}

// The last calls are looked at, as many as came before them: a program begins with others. They
// are more each time, as a part of a step may repeat itself, too.
void RepeatedRun::look() {
  due_ += std::min<std::uint64_t>(number_, kMost);
  const std::size_t found = shortest_run(std::min<std::uint64_t>(number_ / 2, kMost));
  if (found == 0 || found == calls_) return;
  calls_ = last_ = found;
  at_ = fitting_ = 0;
}

// The shortest run that the last `window` calls consist of, at least twice; 0 if there is none. By
// the longest end that is also a beginning, of each part from the first call on.
std::size_t RepeatedRun::shortest_run(std::size_t window) {
  const auto at = [&](std::size_t place) { return seen_[(number_ - window + place) % kMost]; };
  shared_[0] = 0;
  std::size_t length = 0;
  for (std::size_t place = 1; place < window; ++place) {
    while (length > 0 && at(place) != at(length)) length = shared_[length - 1];
    if (at(place) == at(length)) ++length;
    shared_[place] = static_cast<std::uint16_t>(length);
  }
  const std::size_t run = window - length;
  return run <= window / 2 ? run : 0;
}

void Steps::next(std::uint32_t call, bool is_compressed) {
  const bool begins = run_.next(call);
  if (run_.calls() == 0) {
    run_at_begin_ = 0;
    return;
  }
  if (begins) {
    const Clock::time_point now = Clock::now();
    if (run_at_begin_ == run_.calls()) end_step(now);
    began_ = now;
    run_at_begin_ = run_.calls();
    is_compressed_ = false;
  }
  is_compressed_ = is_compressed_ || is_compressed;
}

void Steps::end_step(Clock::time_point now) {
  const auto took = static_cast<std::uint64_t>(std::chrono::nanoseconds(now - began_).count());
  const std::lock_guard lock(mutex_);
  if (sums_.calls != run_.calls()) sums_ = {.calls = run_.calls()};
  (is_compressed_ ? sums_.compressed : sums_.raw) += 1;
  (is_compressed_ ? sums_.compressed_nanoseconds : sums_.raw_nanoseconds) += took;
}

StepSums Steps::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sums_, {});
}

}  // namespace thinwire::shim
