// The loop of a helper's thread: it waits for sockets, timers and tasks of host threads, and runs
// what belongs to them. All but post() and stop() belong to that thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>
#include <vector>

#include "agree/socket.h"

namespace thinwire::nccl::agree {

class Loop {
 public:
  using Task = std::function<void()>;
  using Ready = std::function<void(std::uint32_t events)>;
  using Clock = std::chrono::steady_clock;
  using TimerId = std::pair<Clock::time_point, std::uint64_t>;

  // `failed`: on its thread, when that cannot go on for lack of memory. Nothing else is run after.
  explicit Loop(Task failed);
  ~Loop();  // stops
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs `task` soon; from any thread. False if nobody would: stopped, or in a forked child.
  bool post(Task task);
  // Ends the thread; what was posted before is done, what is posted later is not.
  void stop();
  void join();
  // Whether the thread runs: not in a forked child, nor if the system gave none.
  bool lives() const { return generation_.load(std::memory_order_relaxed) == fork_generation(); }

  std::uint64_t watch(int fd, std::uint32_t events, Ready ready);
  void change(std::uint64_t watched, int fd, std::uint32_t events);
  void unwatch(std::uint64_t watched, int fd);
  std::size_t watched() const { return watched_.size(); }

  TimerId after(std::chrono::milliseconds time, Task task);
  void cancel(const TimerId& timer) { timers_.erase(timer); }

  // Connections that nobody has any more and that still have something to send.
  int unfinished = 0;

  // Destroyed after nothing of this turn can still be running in it. Destructors bury, so this
  // never fails: there is room for what one turn ends, and what exceeds it in a process that has no
  // memory left stays for good.
  template <typename Thing>
  void bury(std::unique_ptr<Thing> thing) noexcept {
    Grave grave{nullptr, thing.release(), [](void* own) { delete static_cast<Thing*>(own); }};
    allowed_to_fail([&] { graves_.push_back(std::move(grave)); });
  }
  void bury(std::shared_ptr<void> thing) noexcept {
    allowed_to_fail([&] { graves_.push_back({std::move(thing), nullptr, nullptr}); });
  }

 private:
  struct Grave {
    std::shared_ptr<void> shared;
    void* own;
    void (*destroy)(void*);
  };
  static constexpr std::size_t kGraves = 256;

  template <typename Work>
  static void allowed_to_fail(Work work) noexcept {
    try {
      work();
    } catch (const std::bad_alloc&) {
    }
  }

  void start();
  void run();
  void run_turns();
  void run_posted();
  void run_timers();
  void clear_graves();
  int time_to_wait() const;

  Socket epoll_;
  Socket wake_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Ready>> watched_;
  std::map<TimerId, Task> timers_;
  std::vector<Grave> graves_, opened_;  // of this turn, and those that are being destroyed
  std::uint64_t next_ = 1;

  std::mutex mutex_;  // of these two; held for a push or a swap
  std::vector<Task> posted_;
  bool stopping_ = false;

  const Task failed_;
  const int started_in_;         // a fork_generation()
  std::atomic<int> generation_;  // the same while the thread runs
  std::thread thread_;
};

}  // namespace thinwire::nccl::agree
