#include "agree/loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>

#include "base/threads.h"

namespace thinwire::nccl::agree {
namespace {

constexpr std::uint64_t kWake = 0;
constexpr int kNever = -1;

}  // namespace

Loop::Loop(Task failed)
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      failed_(std::move(failed)),
      started_in_(fork_generation()),
      generation_(started_in_) {
  graves_.reserve(kGraves);
  opened_.reserve(kGraves);
  start();
}

void Loop::start() {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWake;
  const bool watches = epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, wake_.fd(), &event) == 0;
  if (watches) thread_ = quiet_thread("thinwire-helper", [this] { run(); }, Runs::kAnywhere);
  if (!thread_.joinable()) generation_ = kNever;
}

Loop::~Loop() {
  stop();
  join();
  clear_graves();
}

void Loop::join() {
  if (!thread_.joinable()) return;
  if (started_in_ == fork_generation()) {
    thread_.join();
  } else {
    thread_.detach();  // the parent's
  }
}

bool Loop::post(Task task) {
  if (!lives()) return false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    posted_.push_back(std::move(task));
  }
  const std::uint64_t one = 1;
  return write(wake_.fd(), &one, sizeof one) == sizeof one || errno == EAGAIN;
}

void Loop::stop() {
  if (!lives()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!write(wake_.fd(), &one, sizeof one));
}

std::uint64_t Loop::watch(int fd, std::uint32_t events, Ready ready) {
  const std::uint64_t watched = next_++;
  watched_[watched] = std::make_shared<Ready>(std::move(ready));
  epoll_event event{};
  event.events = events;
  event.data.u64 = watched;
  epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event);
  return watched;
}

void Loop::change(std::uint64_t watched, int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = watched;
  epoll_ctl(epoll_.fd(), EPOLL_CTL_MOD, fd, &event);
}

void Loop::unwatch(std::uint64_t watched, int fd) {
  if (watched_.erase(watched) != 0) epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, fd, nullptr);
}

Loop::TimerId Loop::after(std::chrono::milliseconds time, Task task) {
  const TimerId timer{Clock::now() + time, next_++};
  timers_.emplace(timer, std::move(task));
  return timer;
}

int Loop::time_to_wait() const {
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first.first - Clock::now();
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<long long>(whole, 0, 60'000));
}

void Loop::run() {
  try {
    run_turns();
  } catch (const std::exception&) {
    generation_ = kNever;
    failed_();
  }
}

void Loop::run_turns() {
  std::array<epoll_event, 64> events;
  for (bool stopping = false; !stopping;) {
    const int count = epoll_wait(epoll_.fd(), events.data(), events.size(), time_to_wait());
    for (int i = 0; i < count; ++i) {
      if (events[i].data.u64 == kWake) {
        std::uint64_t times = 0;
        static_cast<void>(!read(wake_.fd(), &times, sizeof times));
        continue;
      }
      const auto found = watched_.find(events[i].data.u64);
      if (found == watched_.end()) continue;  // ended in this turn
      const std::shared_ptr<Ready> ready = found->second;
      (*ready)(events[i].events);
    }
    {
      const std::lock_guard lock(mutex_);
      stopping = stopping_;
    }
    run_posted();
    run_timers();
    clear_graves();
  }
}

// A destructor may bury more.
void Loop::clear_graves() {
  while (!graves_.empty()) {
    opened_.swap(graves_);
    for (const Grave& each : opened_) {
      if (each.own != nullptr) each.destroy(each.own);
    }
    opened_.clear();
  }
}

void Loop::run_posted() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (const Task& task : tasks) task();
}

void Loop::run_timers() {
  while (!timers_.empty() && timers_.begin()->first.first <= Clock::now()) {
    auto first = timers_.extract(timers_.begin());
    first.mapped()();
  }
}

}  // namespace thinwire::nccl::agree
