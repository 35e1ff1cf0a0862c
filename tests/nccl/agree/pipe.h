// Pipes between a test's parent process and the processes of its ranks.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace job {

// Values no larger than a pipe takes in one write. Ends the process if it does not take one.
struct Pipe {
  Pipe() {
    if (pipe(ends) != 0) std::abort();
  }
  int ends[2]{};

  template <typename T>
  void put(const T& value) const {
    if (write(ends[1], &value, sizeof value) != sizeof value) std::_Exit(2);
  }
  template <typename T>
  T take() const {
    T value{};
    if (read(ends[0], &value, sizeof value) != sizeof value) std::_Exit(2);
    return value;
  }
};

}  // namespace job
