// The thread that runs the non-blocking collectives of one communicator, one behind the other in
// the order of their calls.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace thinwire::mpi {

class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  // Waits for all that was handed over.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void hand_over(std::function<void()> task);

  // Returns when nothing is left to do: the caller may use what tasks use.
  void wait_until_idle();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool busy_ = false;
  bool ends_ = false;
  std::thread thread_;  // the last: it uses all above
};

}  // namespace thinwire::mpi
