// How many of the program's calls make communicators, or that the library makes one.
#pragma once

#include <atomic>

namespace thinwire::mpi {

class CreationCount {
 public:
  // A call of the program's begins; waits while it is quiet.
  void begin() {
    int found = state_.load();
    for (;;) {
      if (found == kQuiet) {
        state_.wait(kQuiet);
        found = state_.load();
      } else if (state_.compare_exchange_weak(found, found + 1)) {
        return;
      }
    }
  }
  void end() { state_.fetch_sub(1); }

  // The library's turn, which has none beside it; false, at once, if any call is under way.
  bool begin_quiet() {
    int none = 0;
    return state_.compare_exchange_strong(none, kQuiet);
  }
  void end_quiet() {
    state_.store(0);
    state_.notify_all();
  }

  bool is_idle() const { return state_.load() == 0; }

 private:
  static constexpr int kQuiet = -1;
  std::atomic<int> state_{0};  // calls under way, or kQuiet
};

}  // namespace thinwire::mpi
