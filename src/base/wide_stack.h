// Work that needs more stack than a thread of the program may have. Codecs keep tables and tiles of
// up to 140 KiB on the stack; programs run MPI on threads of 64 KiB, and on fibers of 16.
#pragma once

#include <exception>
#include <optional>
#include <utility>

namespace thinwire {

// Whether 192 KiB are free where the caller runs. A fiber's stack, which the system does not know,
// counts as too small.
bool stack_is_wide();

// Calls `work(argument)`, which must not throw, on a stack of 320 KiB that is lent for it; on the
// caller's own if the system has no memory for one.
void run_on_lent_stack(void (*work)(void*), void* argument);

// Returns what `work()` returns, or throws, on a stack with room for it. It stays in the same
// thread.
template <typename Work>
auto on_wide_stack(Work&& work) -> decltype(work()) {
  if (stack_is_wide()) [[likely]] {
    return work();
  }
  struct Call {
    Work& work;
    std::optional<decltype(work())> result;
    std::exception_ptr thrown;
  } call{work, {}, {}};
  run_on_lent_stack(
      [](void* argument) {
        auto& own = *static_cast<Call*>(argument);
        try {
          own.result.emplace(own.work());
        } catch (...) {
          own.thrown = std::current_exception();
        }
      },
      &call);
  if (call.thrown) std::rethrow_exception(call.thrown);
  return *std::move(call.result);
}

}  // namespace thinwire
