// Calls on the launcher's socket that a signal interrupts, or that find nothing yet.
#pragma once

#include <cerrno>

namespace thinwire::mpi::pmi {

inline bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

template <typename Call>
auto without_interruption(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace thinwire::mpi::pmi
