// Threads of the library's own within programs of others.
#pragma once

#include <pthread.h>
#include <sched.h>

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

}  // namespace thinwire
