#include "run/service.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/threads.h"
#include "native/refused.h"

namespace thinwire::nccl {
namespace {

using namespace std::chrono_literals;

// Between two looks at mailboxes.
constexpr auto kShortest = 20us;
constexpr auto kLongest = 1000us;

// How long to pause: shortly while blocks move, as each look moves a part of one and a GPU waits;
// not long while the next block may begin; else longer and longer.
class Pause {
 public:
  std::chrono::microseconds after(bool moved) {
    const auto now = std::chrono::steady_clock::now();
    if (moved) moved_at_ = now;
    const auto quiet = now - moved_at_;
    const auto longest = quiet < 2ms ? kShortest : quiet < 1s ? 5 * kShortest : kLongest;
    pause_ = std::min<std::chrono::microseconds>(2 * pause_, longest);
    return pause_;
  }

 private:
  std::chrono::microseconds pause_ = kShortest;
  std::chrono::steady_clock::time_point moved_at_{};
};

class Service {
 public:
  // False: the system has no thread left.
  bool start() {
    const std::lock_guard lock(mutex_);
    if (runs_) return true;
    std::thread worker = quiet_thread("thinwire-calls", [this] { work(); }, Runs::kAnywhere);
    if (!worker.joinable()) return false;
    worker.detach();
    runs_ = true;
    return true;
  }

  void add(Compressor& compressor) {
    {
      const std::lock_guard lock(mutex_);
      added_.push_back(&compressor);
      ++compressor.in_service;
    }
    changed_.notify_one();
  }

  std::vector<Compressor*> under_way() {
    const std::lock_guard lock(mutex_);
    std::vector<Compressor*> all = added_;
    all.insert(all.end(), served_.begin(), served_.end());
    return all;
  }

 private:
  void work() {
    // The system else adds 50 microseconds to each pause, so that it can wake threads together.
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    Pause pauses;
    std::chrono::microseconds pause = kShortest;
    for (;;) {
      bool moved = false;
      // Work that is refused now is done in a later turn.
      allowed([&] {
        take_added(pause);
        moved = serve_all();
        reap_all();
      });
      pause = pauses.after(moved);
    }
  }

  bool serve_all() {
    bool moved = false;
    for (Compressor* const each : served_) {
      if (!allowed([&] { moved = each->serve() || moved; })) each->lose_service();
    }
    return moved;
  }

  void reap_all() {
    std::vector<Compressor*> busy, idle;
    busy.reserve(served_.size());
    idle.reserve(served_.size());
    for (Compressor* const each : served_) {
      bool is_busy = true;
      allowed([&] { is_busy = each->reap(); });
      (is_busy ? busy : idle).push_back(each);
    }
    const std::lock_guard lock(mutex_);
    served_.swap(busy);
    for (Compressor* const each : idle)
      --each->in_service;  // the last look at it: it may be destroyed
  }

  void take_added(std::chrono::microseconds pause) {
    std::unique_lock lock(mutex_);
    const auto some = [&] { return !added_.empty(); };
    if (served_.empty()) {
      changed_.wait(lock, some);
    } else {
      changed_.wait_for(lock, pause, some);
    }
    served_.insert(served_.end(), added_.begin(), added_.end());
    added_.clear();
  }

  std::mutex mutex_;  // of all below; the second list is written by its thread alone
  bool runs_ = false;
  std::condition_variable changed_;
  std::vector<Compressor*> added_;
  std::vector<Compressor*> served_;
};

// Never destroyed: its thread goes on while the process ends.
Service& service() {
  static Service* const made = new Service;
  return *made;
}

}  // namespace

bool start_service() { return service().start(); }

void look_after(Compressor& compressor) {
  if (compressor.listed.exchange(true)) return;
  try {
    service().add(compressor);
  } catch (...) {
    compressor.listed = false;
    throw;
  }
}

void see_to_its_end(Compressor& compressor) {
  if (start_service()) return look_after(compressor);
  compressor.reap();  // without the service nothing has come under way
}

void take_last_reports() {
  for (Compressor* const each : service().under_way()) each->reap();
}

}  // namespace thinwire::nccl
