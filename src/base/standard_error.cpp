#include "base/standard_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>

#include "base/threads.h"

namespace thinwire {
namespace {

// Looked at as the library is loaded, before the program opens files.
bool has_no_stderr = false;
__attribute__((constructor)) void look_for_stderr() {
  has_no_stderr = ::fcntl(STDERR_FILENO, F_GETFD) == -1;
}

}  // namespace

void write_to_stderr(std::string_view text) {
  if (has_no_stderr) return;
  // It may be closed, or a pipe whose reader has gone; there is nobody left to tell.
  const NoWriteSignals quiet;
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace thinwire
