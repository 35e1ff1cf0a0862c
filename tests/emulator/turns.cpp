#include "turns.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "indices.h"

constinit thread_local thinwire::emulator::Index threadIdx{}, blockIdx{}, blockDim{}, gridDim{};

namespace thinwire::emulator {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024, kGuardBytes = 4096;

[[gnu::tls_model("initial-exec")]] thread_local Turns* entered = nullptr;

std::byte* make_stack() {
  void* const memory = mmap(nullptr, kStackBytes + kGuardBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kGuardBytes, PROT_NONE) != 0) {
    std::perror("no stack for a thread of a kernel");
    std::abort();
  }
  return static_cast<std::byte*>(memory) + kGuardBytes;
}

}  // namespace

void Turns::enter() {
  Turns& turns = *entered;
  if (_setjmp(turns.starting_->at) == 0) setcontext(&turns.starter_);
  turns.live();
}

// A context's life: kernel after kernel.
void Turns::live() {
  for (;;) {
    (*kernel_)();
    (*end_)();
  }
}

// A context is entered once, and left before it runs a kernel.
void Turns::prepare(Context& context) {
  if (context.stack != nullptr) return;
  context.stack = make_stack();
  getcontext(&first_);
  first_.uc_stack.ss_sp = context.stack;
  first_.uc_stack.ss_size = kStackBytes;
  first_.uc_link = nullptr;
  starting_ = &context;
  entered = this;
  makecontext(&first_, enter, 0);
  swapcontext(&starter_, &first_);
}

void Turns::run(unsigned threads, const std::function<void()>& kernel,
                const std::function<void()>& end) {
  kernel_ = &kernel;
  end_ = &end;
  ready_.clear();
  next_ = 0;
  for (unsigned thread = 0; thread < threads; ++thread) {
    prepare(contexts_[thread]);
    make_ready(thread);
  }
  if (_setjmp(back_) == 0) switch_to(take_next());
}

unsigned Turns::take_next() {
  if (order_.kind == Order::Kind::kBackward) {
    const unsigned last = ready_.back();
    ready_.pop_back();
    return last;
  }
  if (order_.kind == Order::Kind::kShuffled) {
    std::swap(ready_[next_], ready_[next_ + random_() % (ready_.size() - next_)]);
  }
  const unsigned first = ready_[next_++];
  if (next_ == ready_.size()) {
    ready_.clear();
    next_ = 0;
  }
  return first;
}

void Turns::switch_to(unsigned thread) {
  current_ = thread;
  threadIdx.x = thread;
  _longjmp(contexts_[thread].at, 1);
}

bool Turns::wait() {
  if (ready_.size() == next_) return false;
  if (_setjmp(contexts_[current_].at) == 0) switch_to(take_next());
  return true;
}

void Turns::finish() {
  if (_setjmp(contexts_[current_].at) == 0) _longjmp(back_, 1);
}

Order order_of_environment() {
  const char* const text = std::getenv("THINWIRE_TEST_GPU_ORDER");
  const std::string name = text == nullptr ? "forward" : text;
  if (name == "forward") return {};
  if (name == "backward") return {Order::Kind::kBackward};
  return {Order::Kind::kShuffled, std::stoull(name)};
}

}  // namespace thinwire::emulator
