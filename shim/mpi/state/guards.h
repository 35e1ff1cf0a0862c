// Keeps probes that take messages out of the MPI apart from receives of other threads: a message
// taken between a receive's look at early messages and its posting would be waited for in vain.
//
// Receives do not hinder each other. A guard is held around calls of the MPI, which may run the
// program's error handler; what that calls gives the thread's guard up first, because the call that
// failed matches nothing any more.
#pragma once

#include <atomic>

namespace thinwire::mpi {

class Guard {
 public:
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  void release();

 protected:
  enum class Kind { kNone, kPost, kPull };
  explicit Guard(Kind kind);
  ~Guard() { release(); }

 private:
  void enter();
  Kind kind_;
};

// From the look at early messages until the receive is posted.
class PostGuard : Guard {
 public:
  // `is_needed`: another thread's probe may take the message out of the MPI at any moment.
  explicit PostGuard(bool is_needed);
  using Guard::release;
};

// While messages are taken out of the MPI. `alone`: there is no other thread, and nothing to guard.
class PullGuard : Guard {
 public:
  PullGuard();
  using Guard::release;
  bool alone() const { return alone_; }

 private:
  bool alone_;
};

// The guard of this thread, where a call of the MPI under it has led back here. No static room: the
// library is opened late as well, for its transport, when none may be left.
extern constinit thread_local Guard* held_guard;
inline void give_up_guard() {
  if (held_guard != nullptr) [[unlikely]]
    held_guard->release();
}

}  // namespace thinwire::mpi
