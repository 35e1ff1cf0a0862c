#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/settings.h"
#include "base/threads.h"

namespace thinwire {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"off",  "error", "warning",
                                                    "info", "debug", "plan"};

// Their order, which is not that of their values.
constexpr int order(LogLevel level) {
  return level == LogLevel::kPlan ? 2 * static_cast<int>(LogLevel::kInfo) + 1
                                  : 2 * static_cast<int>(level);
}

// Whether the process began without standard error: then a file of the program's may have its
// number.
bool has_no_stderr = false;
__attribute__((constructor)) void look_for_stderr() {
  has_no_stderr = ::fcntl(STDERR_FILENO, F_GETFD) == -1;
}

LogLevel level_from_environment() {
  const char* text = setting_value("THINWIRE_LOG");
  const auto level = parse_log_level(text == nullptr ? "" : text);
  return level.ok() ? *level : LogLevel::kWarning;
}

}  // namespace

Result<LogLevel> parse_log_level(std::string_view text) {
  for (std::size_t level = 0; level < kNames.size(); ++level) {
    if (kNames[level] == text) return static_cast<LogLevel>(level);
  }
  return {StatusCode::kInvalidArgument,
          "'" + std::string(text) + "' is none of off, error, warning, info, plan and debug"};
}

LogLevel log_level() {
  static const LogLevel level = level_from_environment();
  return level;
}

void log(LogLevel level, std::string_view text) {
  if (level == LogLevel::kOff || order(level) > order(log_level()) || has_no_stderr) return;
  std::string line = "thinwire: ";
  line += kNames[static_cast<std::size_t>(level)];
  line += ": ";
  line += text;
  line += '\n';
  // Standard error may be closed, or a pipe whose reader has gone; there is nobody left to tell.
  const NoWriteSignals quiet;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace thinwire
