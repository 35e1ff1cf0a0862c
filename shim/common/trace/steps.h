// Steps of a program, as its calls tell them: the shortest run of calls that comes again and again.
// A step of training is one, or of a solver. In doubt there are none.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "shim/common/trace/cells.h"

namespace thinwire::shim {

// Finds the run. Pure: no clock.
class RepeatedRun {
 public:
  // Calls that are looked back at; the longest run is half of that.
  static constexpr std::size_t kMost = 4096;

  // The next call, as a number that is the same for calls of one kind. True if a run begins with
  // it.
  bool next(std::uint32_t call);

  // How many calls the run has; 0 while none is known.
  std::size_t calls() const { return calls_; }

 private:
  static constexpr std::uint64_t kFirstLook = 16;

  bool fits(std::uint32_t call, std::size_t calls) const;
  void note_fit(bool fits_last);
  std::size_t shortest_run(std::size_t window);
  void look();

  std::array<std::uint32_t, kMost> seen_{};  // a ring
  // Used by a look; not on the stack of a program's thread.
  std::array<std::uint16_t, kMost> shared_{};
  std::uint64_t number_ = 0;        // of all calls
  std::uint64_t due_ = kFirstLook;  // the number at which to look for a run
  std::size_t calls_ = 0;
  std::size_t at_ = 0;       // place of the next call in the run
  std::size_t last_ = 0;     // `calls_` as it was known last
  std::size_t fitting_ = 0;  // calls in a row that came as in a run of `last_`
};

// Steps that ended, and what they took together. A step is compressed if one of its calls was.
struct StepSums {
  std::uint64_t calls = 0;  // of each
  std::uint64_t compressed = 0, compressed_nanoseconds = 0, raw = 0, raw_nanoseconds = 0;
};

class Steps {
 public:
  // A call, by its number; any thread. Threads whose calls meet have no steps.
  void call(std::uint32_t call, bool is_compressed, Writers writers) {
    if (writers == Writers::kOne) return next(call, is_compressed);
    if (is_busy_.test_and_set(std::memory_order_acquire)) return;
    next(call, is_compressed);
    is_busy_.clear(std::memory_order_release);
  }

  // Those that ended since the last time. If the run has changed meanwhile, those of the last one.
  StepSums take();

 private:
  using Clock = std::chrono::steady_clock;

  void next(std::uint32_t call, bool is_compressed);
  void end_step(Clock::time_point now);

  std::atomic_flag is_busy_;
  RepeatedRun run_;
  Clock::time_point began_{};
  std::size_t run_at_begin_ = 0;  // calls of it; 0: no step has begun
  bool is_compressed_ = false;
  std::mutex mutex_;
  StepSums sums_;
};

// A number for calls of one operation, communicator and peer, and of so many bytes: the same
// whether they are compressed or not.
constexpr std::uint32_t call_number(const CellKey& key, std::uint64_t bytes) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  const std::uint64_t word = packed({key.operation, 0, 0, 0, key.name, key.peer});
  return static_cast<std::uint32_t>(((word ^ (bytes * kMix)) * kMix) >> 32);
}

}  // namespace thinwire::shim
