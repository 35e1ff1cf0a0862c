// Threads of the library's own within programs of others.
#pragma once

#include <pthread.h>

#include <csignal>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace thinwire {

// A thread that runs `work`, called `name` (at most 15 characters) by debuggers. Signals sent to
// the process are the program's: this thread takes none, so that a program that waits for one gets
// it. What a thread does wrong itself (SIGSEGV, SIGFPE) comes to it all the same. One that is not
// joinable where the system has no thread left.
inline std::thread quiet_thread(const char* name, std::function<void()> work) {
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
    made = std::thread([work = std::move(work), called = std::string(name)] {
      pthread_setname_np(pthread_self(), called.c_str());
      work();
    });
  } catch (const std::exception&) {  // none left, or no memory for one: the caller sees it
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

}  // namespace thinwire
