#include "shim/common/trace/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "thinwire/thinwire.h"

namespace thinwire::shim {
namespace {

void say_failure(const char* setting, const std::string& path) {
  tw_log(TW_LOG_ERROR, (std::string(setting) + ": cannot write " + path + ": " +
                        std::strerror(errno) + "; the program goes on without it")
                           .c_str());
}

int open_for_writing(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

bool write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t moved = ::write(file, text.data() + done, text.size() - done);
    if (moved > 0) {
      done += static_cast<std::size_t>(moved);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

void TraceFile::open(const char* setting, const std::string& path) {
  setting_ = setting;
  path_ = path;
  file_ = open_for_writing(path);
  if (file_ < 0) say_failure(setting_, path_);
}

void TraceFile::write(const std::string& text) {
  if (file_ >= 0 && !write_all(file_, text)) give_up();
}

void TraceFile::give_up() {
  say_failure(setting_, path_);
  close();
}

void TraceFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void replace_file(const char* setting, const std::string& path, const std::string& text) {
  static std::atomic<bool> said{false};
  const std::string draft = path + ".draft";
  const int file = open_for_writing(draft);
  bool whole = file >= 0 && write_all(file, text);
  if (file >= 0) whole = ::close(file) == 0 && whole;
  whole = whole && std::rename(draft.c_str(), path.c_str()) == 0;
  if (!whole && !said.exchange(true)) say_failure(setting, path);
}

}  // namespace thinwire::shim
