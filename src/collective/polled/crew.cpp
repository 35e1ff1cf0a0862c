#include "collective/polled/crew.h"

#include <chrono>
#include <new>
#include <utility>

#include "base/threads.h"

namespace thinwire::collective {
namespace {

Status encode(Engine& engine, Job& job) {
  const auto packet = job.is_raw() ? engine.pass(job.from, job.shape, job.slot, job.why_raw)
                                   : engine.encode(job.from, job.shape, job.slot, job.reference);
  job.packet = packet.ok() ? *packet : Packet{};
  return packet.status();
}

Status perform_action(Engine& engine, Job& job) {
  switch (job.action) {
    case Action::kCopy:
      return engine.copy(job.to, job.from, job.shape);
    case Action::kCombine:
      return engine.combine(job.to, job.from, job.shape);
    case Action::kAddExactly:
      return engine.add_exactly(job.to, job.stride, job.arrays, job.shape);
    case Action::kDecode:
      return engine.decode(job.packet, job.shape, job.to, job.reference);
    case Action::kReduce:
      return engine.reduce(job.packet, job.shape, job.to);
    case Action::kEncode:
      return encode(engine, job);
    default:
      return {StatusCode::kInternal, "a message is no local step"};
  }
}

}  // namespace

void perform(Engine& engine, Job& job) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  // Nobody above could catch it on a thread of ours. The texts are short: they need no memory.
  try {
    job.status = perform_action(engine, job);
  } catch (const std::bad_alloc&) {
    job.status = {StatusCode::kInternal, "out of memory"};
  } catch (...) {
    job.status = {StatusCode::kInternal, "an exception"};
  }
  job.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Crew::Crew(std::uint32_t threads) {
  waiting_.reserve(threads);
  done_.reserve(threads);
  for (std::uint32_t member = 0; member < threads; ++member) {
    std::thread made = quiet_thread("thinwire-codes", [this, member] { work(member); });
    if (!made.joinable()) return;
    threads_.push_back(std::move(made));
  }
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  comes_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::hand_over(const Job& job) {
  ++out_;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(job);
  }
  comes_.notify_one();
}

bool Crew::take_back(Job& job) {
  if (out_ == 0) return false;
  const std::lock_guard lock(mutex_);
  if (done_.empty()) return false;
  job = std::move(done_.back());
  done_.pop_back();
  --out_;
  return true;
}

void Crew::work(std::size_t member) {
  std::unique_lock lock(mutex_);
  for (;;) {
    comes_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Job job = std::move(waiting_.back());
    waiting_.pop_back();
    lock.unlock();
    perform(engines_[member], job);
    lock.lock();
    done_.push_back(std::move(job));
  }
}

}  // namespace thinwire::collective
