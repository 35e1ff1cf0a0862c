// Whether a call of the program's is still under way: an error handler or an attribute's function
// may leave one by longjmp(), which runs no destructor.
#pragma once

#include <cstdint>

namespace thinwire::mpi {

// True if the function of the code at `code` still has `local` in its frame on this thread's stack,
// or if that cannot be told. Walks the stack: some microseconds.
bool is_on_stack(const void* local, const void* code);

// The stack that the calling function runs on: the thread's own, or a user-level thread's.
class OwnStack {
 public:
  OwnStack();

  // Whether `local` is in a frame of a function that has led here. True if that cannot be told.
  bool has_caller(const void* local) const;

 private:
  bool thread_has(std::uintptr_t address) const { return first_ <= address && address < end_; }
  std::uintptr_t here_;
  std::uintptr_t first_ = 0, end_ = UINTPTR_MAX;  // of the thread's own, as far as is known
};

// The outermost call of a kind in a thread, by an object in its frame.
class OutermostCall {
 public:
  // False: `local` is in a call inside of the outermost one. `left` is set if there was one that
  // the program has left by a jump.
  bool enter(const void* local, const void* code, bool& left) {
    left = forget_if_left(local);
    if (local_ != nullptr) return false;
    local_ = local;
    code_ = code;
    return true;
  }

  // True: it was the outermost.
  bool leave(const void* local) {
    if (local_ != local) return false;
    local_ = nullptr;
    return true;
  }

  // True, once, if the program has left the call by a jump. `now`: any object of a call that is
  // under way.
  bool forget_if_left(const void* now) {
    if (local_ == nullptr || (now < local_ && is_on_stack(local_, code_))) return false;
    local_ = nullptr;
    return true;
  }

 private:
  const void* local_ = nullptr;
  const void* code_ = nullptr;
};

}  // namespace thinwire::mpi
