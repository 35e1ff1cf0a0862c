// Threads that run what was started and waits for other ranks: one behind the other, or all at
// once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace thinwire::mpi {

class Worker {
 public:
  enum class Order : std::uint8_t {
    kAsHandedOver,  // by one thread
    kAtOnce,        // by as many threads as tasks are on their way at once
  };

  explicit Worker(Order order) : order_(order) {}
  // Waits for all that was handed over.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void hand_over(std::function<void()> task);

  // Returns when nothing is left to do: the caller may use what tasks use.
  void wait_until_idle();

 private:
  void work();

  const Order order_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::size_t busy_ = 0;  // threads with a task
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace thinwire::mpi
