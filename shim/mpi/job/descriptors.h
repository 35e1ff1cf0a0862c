// Descriptors that this library opens in the program's process.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace thinwire::mpi {

// Not the number of a standard stream that is closed: whoever writes to that would be heard, and
// what the program opens next would become its output.
inline int above_streams(int descriptor) {
  constexpr int kFirst = STDERR_FILENO + 1;
  if (descriptor < 0 || descriptor >= kFirst) return descriptor;
  const int raised = fcntl(descriptor, F_DUPFD_CLOEXEC, kFirst);
  close(descriptor);
  return raised;
}

}  // namespace thinwire::mpi
