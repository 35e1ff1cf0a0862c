#include "streams.h"

namespace thinwire::slots {

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    held_ = false;
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::put(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void Stream::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty(); });
}

void Stream::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void Stream::release() {
  {
    const std::lock_guard lock(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

void Stream::work() {
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

}  // namespace thinwire::slots
