// A queue with a thread of its own: what is put in runs in order while the caller goes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

class TaskQueue {
 public:
  TaskQueue() : thread_([this] { work(); }) {}
  // Does what is left first.
  ~TaskQueue() {
    change([this] {
      ends_ = true;
      held_ = false;
    });
    thread_.join();
  }
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  void put(std::function<void()> task) {
    change([&] { tasks_.push_back(std::move(task)); });
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return tasks_.empty(); });
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return tasks_.empty();
  }

  // Tasks that are put from hold() on run after release().
  void hold() {
    change([this] { held_ = true; });
  }
  void release() {
    change([this] { held_ = false; });
  }

 private:
  template <typename Change>
  void change(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return (ends_ && tasks_.empty()) || (!held_ && !tasks_.empty()); });
      if (tasks_.empty()) return;
      const std::function<void()>& task = tasks_.front();  // a deque leaves it in its place
      lock.unlock();
      task();
      lock.lock();
      tasks_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // the first one is running
  bool ends_ = false, held_ = false;
  std::thread thread_;
};
