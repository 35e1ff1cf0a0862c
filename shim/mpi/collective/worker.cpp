#include "shim/mpi/collective/worker.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/threads.h"

namespace thinwire::mpi {
namespace {

// For a program that starts a few and then waits.
constexpr std::chrono::milliseconds kGrace{1};

}  // namespace

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Whether one more task may run.
bool Worker::has_place() const { return order_ == Order::kAtOnce || running_.empty(); }

bool Worker::add_thread() {
  std::thread made = quiet_thread("thinwire-calls", [this] { work(); });
  if (!made.joinable()) return false;
  threads_.push_back(std::move(made));
  return true;
}

void Worker::add_thread_if_wanted() {
  const bool all_taken = tasks_.size() > threads_.size() - busy_;
  if (threads_.empty() || (order_ == Order::kAtOnce && all_taken)) add_thread();
}

bool Worker::hold_thread() {
  const std::lock_guard lock(mutex_);
  if (threads_.size() == held_ && !add_thread()) return false;
  ++held_;
  return true;
}

void Worker::let_thread_go() {
  const std::lock_guard lock(mutex_);
  --held_;
}

std::size_t Worker::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void Worker::hand_over(MPI_Request request, Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({handed_over_++, request, std::move(task)});
    add_thread_if_wanted();
    // Who lets others go first wakes up by himself.
    if (threads_.size() - busy_ <= drowsy_) return;
  }
  changed_.notify_all();
}

std::deque<Worker::Named>::iterator Worker::find(MPI_Request request) {
  return std::ranges::find(tasks_, request, &Named::request);
}

void Worker::run(std::deque<Named>::iterator next, Waiting::Who who, Lock& lock) {
  const Named one = std::move(*next);
  tasks_.erase(next);
  const auto running = std::make_shared<Running>(one.request);
  running_.push_back(running);
  is_waited_for_ = who == Waiting::Who::kProgram;
  lock.unlock();
  one.task(who, running->waiting);
  lock.lock();
  running_.erase(std::ranges::find(running_, running));
  changed_.notify_all();
}

bool Worker::runs(MPI_Request request) const {
  return std::ranges::any_of(running_,
                             [request](const auto& each) { return each->request == request; });
}

// Waits until something changes, for those of the running tasks that matter.
void Worker::wait_for(std::function<bool(const Running&)> matters, Lock& lock) {
  std::vector<std::shared_ptr<Running>> awaited;
  std::ranges::copy_if(running_, std::back_inserter(awaited),
                       [&](const auto& each) { return matters(*each); });
  for (const auto& each : awaited) ++each->waiting;
  changed_.wait(lock);
  for (const auto& each : awaited) --each->waiting;
}

void Worker::run_until_done(MPI_Request request) {
  Lock lock(mutex_);
  for (;;) {
    auto next = find(request);
    const bool is_queued = next != tasks_.end();
    if (!is_queued && !runs(request)) return;
    if (is_queued && has_place()) {
      if (order_ == Order::kAsHandedOver) next = tasks_.begin();
      run(next, Waiting::Who::kProgram, lock);
    } else {
      // One that is queued waits for all that run.
      wait_for([&](const Running& each) { return is_queued || each.request == request; }, lock);
    }
  }
}

void Worker::run_until_idle() {
  Lock lock(mutex_);
  while (!tasks_.empty() || !running_.empty()) {
    if (!tasks_.empty() && has_place()) {
      run(tasks_.begin(), Waiting::Who::kProgram, lock);
    } else {
      wait_for([](const Running&) { return true; }, lock);
    }
  }
}

void Worker::work() {
  sleep_precisely();
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return tasks_.empty() ? ends_ : has_place(); });
    if (tasks_.empty()) return;
    if (is_waited_for_) {
      const std::uint64_t first = tasks_.front().number;
      ++drowsy_;
      changed_.wait_for(lock, kGrace, [this] { return ends_; });
      --drowsy_;
      if (tasks_.empty() || !has_place() || tasks_.front().number != first) continue;
    }
    ++busy_;
    run(tasks_.begin(), Waiting::Who::kLibrary, lock);
    --busy_;
  }
}

}  // namespace thinwire::mpi
