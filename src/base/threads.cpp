#include "base/threads.h"

#include <pthread.h>

#include <cerrno>
#include <ctime>
#include <initializer_list>

namespace thinwire {

NoWriteSignals::NoWriteSignals() {
  sigemptyset(&kept_);
  sigaddset(&kept_, SIGXFSZ);
  sigaddset(&kept_, SIGPIPE);
  sigpending(&pending_);
  pthread_sigmask(SIG_BLOCK, &kept_, &before_);
}

NoWriteSignals::~NoWriteSignals() {
  const int error = errno;
  const timespec now{};
  for (const int number : {SIGXFSZ, SIGPIPE}) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    // A signal that the program had blocked before is the program's own.
    const bool is_own = sigismember(&pending_, number) == 1;
    if (!is_own) sigtimedwait(&one, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace thinwire
