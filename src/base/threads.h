// Threads within programs of others: the library's own, what it keeps for each of the program's,
// and the signals that come to them.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <csignal>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace thinwire {

// The processors that the process had as this library was loaded; none if there are more than a
// cpu_set_t has room for.
inline const cpu_set_t kProcessorsAtStart = [] {
  cpu_set_t found;
  CPU_ZERO(&found);
  sched_getaffinity(0, sizeof found, &found);
  return found;
}();

// The processors that a thread runs on: those of the thread that makes it, or any of the process's.
// OpenMP and others bind the program's threads to one processor each, which a thread for their
// hosts' sake is not to share.
enum class Runs { kAsItsMaker, kAnywhere };

// A thread that runs `work`, called `name` (at most 15 characters) by debuggers. Signals sent to
// the process are the program's: this thread takes none, so that a program that waits for one gets
// it. What a thread does wrong itself (SIGSEGV, SIGFPE) comes to it all the same. One that is not
// joinable if the system has no thread left.
inline std::thread quiet_thread(const char* name, std::function<void()> work,
                                Runs where = Runs::kAsItsMaker) {
  sigset_t quiet{}, before{};
  sigfillset(&quiet);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
    sigdelset(&quiet, own);
  }
  // A thread begins with the signals of the one that makes it.
  pthread_sigmask(SIG_SETMASK, &quiet, &before);
  std::thread made;
  try {
    // Itself, so that it has the name before it does anything.
    made = std::thread([work = std::move(work), called = std::string(name), where] {
      pthread_setname_np(pthread_self(), called.c_str());
      if (where == Runs::kAnywhere && CPU_COUNT(&kProcessorsAtStart) > 0)
        pthread_setaffinity_np(pthread_self(), sizeof kProcessorsAtStart, &kProcessorsAtStart);
      work();
    });
  } catch (const std::exception&) {  // none left, or no memory for one: the caller sees it
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

// A thread's own object, also for calls that come while the thread or the process ends. Made at
// first use and deleted with the thread. A `thread_local` object that has a destructor may be gone
// when a destructor of the program's own, or a function of atexit(), makes its last call; this one
// outlives them, and a still later call has another one made. What the main thread had stays as the
// process ends.
template <typename T>
T& of_thread() {
  static thread_local T* own = nullptr;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void* ended) {
      own = nullptr;
      delete static_cast<T*>(ended);
    });
    return made;
  }();
  if (own == nullptr) {
    own = new T;
    pthread_setspecific(key, own);
  }
  return *own;
}

// Keeps SIGXFSZ and SIGPIPE, which end programs, from the thread that writes too much or to a pipe
// whose reader has gone.
class NoWriteSignals {
 public:
  NoWriteSignals();
  ~NoWriteSignals();
  NoWriteSignals(const NoWriteSignals&) = delete;
  NoWriteSignals& operator=(const NoWriteSignals&) = delete;

 private:
  sigset_t kept_{}, before_{}, pending_{};
};

}  // namespace thinwire
