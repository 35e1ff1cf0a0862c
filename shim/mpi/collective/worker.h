// Collectives that were started and wait for other ranks: run one after the other, or all at once,
// by threads of the library, or by those of the program that wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "shim/mpi/collective/waiting.h"
#include "shim/mpi/message/running.h"
#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

class Worker : public Runner {
 public:
  enum class Order : std::uint8_t {
    kAsHandedOver,  // one at a time
    kAtOnce,        // by as many threads as tasks are on their way at once
  };
  // Gets who runs it, and how many threads of the program wait for it by now.
  using Task = std::function<void(Waiting::Who, const std::atomic<unsigned>&)>;

  explicit Worker(Order order) : order_(order) {}
  // Waits for all that was handed over.
  ~Worker() override;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // `request` completes when the task has run. If the program has waited for the one before, a
  // thread begins it a little later: a program that waits at once runs it itself, and no other
  // thread needs a processor.
  void hand_over(MPI_Request request, Task task);

  // Makes sure of one more thread, for a task that nobody may wait for: where each task has one
  // that is held for it, each runs whatever the program does. False: the system has no thread left.
  bool hold_thread();
  void let_thread_go();
  std::size_t held() const;

  // Returns when the request's task has run, which the caller does itself if nobody has begun
  // it.
  void run_until_done(MPI_Request request) override;

  // Returns when nothing is left to do: the caller may use what tasks use.
  void run_until_idle();

 private:
  struct Named {
    std::uint64_t number;
    MPI_Request request;
    Task task;
  };
  // A task that somebody has.
  struct Running {
    MPI_Request request;
    std::atomic<unsigned> waiting = 0;  // threads of the program
  };
  using Lock = std::unique_lock<std::mutex>;

  bool has_place() const;
  bool add_thread();
  void add_thread_if_wanted();
  std::deque<Named>::iterator find(MPI_Request request);
  void run(std::deque<Named>::iterator next, Waiting::Who who, Lock& lock);
  bool runs(MPI_Request request) const;
  void wait_for(std::function<bool(const Running&)> matters, Lock& lock);
  void work();

  const Order order_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Named> tasks_;  // that nobody has begun
  std::vector<std::shared_ptr<Running>> running_;
  std::size_t held_ = 0;    // threads of which somebody has made sure
  std::size_t busy_ = 0;    // threads of the library with a task
  std::size_t drowsy_ = 0;  // that let a program's thread go first
  std::uint64_t handed_over_ = 0;
  bool is_waited_for_ = false;  // the last task ran in a thread of the program
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace thinwire::mpi
