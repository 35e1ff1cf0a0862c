#include "base/wide_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

namespace thinwire {
namespace {

constexpr std::size_t kRoom = 192 << 10;
constexpr std::size_t kLent = 320 << 10;
constexpr std::size_t kGuard = 64 << 10;  // a multiple of any page
constexpr int kMostIdle = 8;

// Sanitizers keep a picture of each thread's stack, and have deeper frames than what is measured.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSwitches = false;
#else
constexpr bool kSwitches = true;
#endif

// Bounds of the thread's stack as the system made it. If it cannot tell them, they hold every
// address.
struct Bounds {
  std::uintptr_t low = 0, high = 0;
};

Bounds ask_for_bounds() {
  Bounds found{0, UINTPTR_MAX};
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return found;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    found.low = reinterpret_cast<std::uintptr_t>(low);
    found.high = found.low + bytes;
  }
  pthread_attr_destroy(&attributes);
  return found;
}

// Lies at the high end of its memory, above the stack that grows down from it.
struct alignas(64) Lent {
  ucontext_t inside, back;
  void (*work)(void*);
  void* argument;
  Lent* next;

  char* memory() { return reinterpret_cast<char*>(this + 1) - (kGuard + kLent); }
};

std::mutex g_mutex;
Lent* g_idle = nullptr;
int g_idle_count = 0;

Lent* take() {
  {
    const std::lock_guard lock(g_mutex);
    if (Lent* lent = g_idle; lent != nullptr) {
      g_idle = lent->next;
      --g_idle_count;
      return lent;
    }
  }
  void* memory = mmap(nullptr, kGuard + kLent, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  mprotect(memory, kGuard, PROT_NONE);
  return new (static_cast<char*>(memory) + kGuard + kLent - sizeof(Lent)) Lent;
}

void give_back(Lent* lent) {
  {
    const std::lock_guard lock(g_mutex);
    if (g_idle_count < kMostIdle) {
      lent->next = g_idle;
      g_idle = lent;
      ++g_idle_count;
      return;
    }
  }
  munmap(lent->memory(), kGuard + kLent);
}

// makecontext() passes ints alone.
void enter(unsigned high, unsigned low) {
  const auto address = static_cast<std::uintptr_t>(std::uint64_t{high} << 32 | low);
  auto* lent = reinterpret_cast<Lent*>(address);
  lent->work(lent->argument);
}

// A function of its own: a compiler takes getcontext() for one that returns twice.
[[gnu::noinline]] bool prepare(Lent& lent) {
  if (getcontext(&lent.inside) != 0) return false;
  lent.inside.uc_stack.ss_sp = lent.memory() + kGuard;
  lent.inside.uc_stack.ss_size = kLent - sizeof(Lent);
  lent.inside.uc_link = &lent.back;
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(&lent);
  makecontext(&lent.inside, reinterpret_cast<void (*)()>(&enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  return true;
}

}  // namespace

bool stack_is_wide() {
  if (!kSwitches) return true;
  thread_local Bounds bounds;
  if (bounds.high == 0) bounds = ask_for_bounds();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here <= bounds.high && here >= bounds.low && here - bounds.low >= kRoom;
}

void run_on_lent_stack(void (*work)(void*), void* argument) {
  Lent* const lent = take();
  if (lent == nullptr || !prepare(*lent)) {
    if (lent != nullptr) give_back(lent);
    work(argument);
    return;
  }
  lent->work = work;
  lent->argument = argument;
  swapcontext(&lent->back, &lent->inside);
  give_back(lent);
}

}  // namespace thinwire
