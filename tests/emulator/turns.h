// The threads of a block as contexts of one thread of the host, which take turns.
#pragma once

#include <ucontext.h>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace thinwire::emulator {

inline constexpr unsigned kMostThreads = 1024;

// Whose turn comes next, of those that can go on.
struct Order {
  enum class Kind : std::uint8_t { kForward, kBackward, kShuffled };
  Kind kind = Kind::kForward;
  std::uint64_t seed = 0;
};

// THINWIRE_TEST_GPU_ORDER: "forward" (the default), "backward", or a number, which shuffles.
Order order_of_environment();

// Contexts and their stacks stay for the next kernels, on the thread of the host that made them.
// Only the first entry into one is by setcontext(), which asks the system about signals; later
// switches are longjmp()s, which ask for nothing.
class Turns {
 public:
  // Runs `kernel` and then `end` for each thread. `end` gives the turn away for good by wait(), the
  // last thread's by finish(), after which this returns.
  void run(unsigned threads, const std::function<void()>& kernel, const std::function<void()>& end);

  unsigned current() const { return current_; }
  void make_ready(unsigned thread) { ready_.push_back(thread); }

  // Gives the turn away, and returns true on the thread's next one, for which make_ready() must
  // have named it. Returns false at once if no thread is ready.
  bool wait();

  // Has run() return, after all threads have ended. This call returns when the next kernel begins,
  // which the context then runs.
  void finish();

 private:
  struct Context {
    jmp_buf at;
    std::byte* stack = nullptr;
  };

  static void enter();
  void live();
  void prepare(Context& context);
  unsigned take_next();
  [[noreturn]] void switch_to(unsigned thread);

  std::unique_ptr<Context[]> contexts_ = std::make_unique<Context[]>(kMostThreads);
  std::vector<unsigned> ready_;  // from `next_` on
  std::size_t next_ = 0;
  unsigned current_ = 0;
  const std::function<void()>* kernel_ = nullptr;
  const std::function<void()>* end_ = nullptr;
  jmp_buf back_;
  ucontext_t starter_, first_;
  Context* starting_ = nullptr;
  Order order_ = order_of_environment();
  std::minstd_rand random_{static_cast<unsigned>(order_.seed)};
};

}  // namespace thinwire::emulator
