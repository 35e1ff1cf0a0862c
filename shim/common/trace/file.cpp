#include "shim/common/trace/file.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "shim/common/results_file.h"
#include "thinwire/thinwire.h"

namespace thinwire::shim {
namespace {

void say_failure(const char* setting, const std::string& path) {
  tw_log(TW_LOG_ERROR, (std::string(setting) + ": cannot write " + path + ": " +
                        why_refused(errno) + "; the program goes on without it")
                           .c_str());
}

}  // namespace

void TraceFile::open(const char* setting, const std::string& path) {
  setting_ = setting;
  path_ = path;
  file_ = open_results(path);
  if (file_ < 0) say_failure(setting_, path_);
}

void TraceFile::write(const std::string& text) {
  if (file_ >= 0 && !write_results(file_, text.data(), text.size())) give_up();
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
  errno = EINVAL;
  bool whole = is_replaceable(path);
  if (whole) {
    errno = write_results(draft, text.data(), text.size());
    whole = errno == 0 && std::rename(draft.c_str(), path.c_str()) == 0;
  }
  if (!whole && !said.exchange(true)) say_failure(setting, path);
}

void write_report(const std::string& path, const std::string& text) {
  errno = write_results(path, text.data(), text.size());
  if (errno != 0) say_failure("THINWIRE_REPORT", path);
}

}  // namespace thinwire::shim
