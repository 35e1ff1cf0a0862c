// Signals that come of writing.
#pragma once

#include <signal.h>

namespace thinwire {

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
