#include "base/log.h"

#include <array>
#include <string>

#include "base/settings.h"
#include "base/standard_error.h"

namespace thinwire {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"off",  "error", "warning",
                                                    "info", "debug", "plan"};

// Their order, which is not that of their values.
constexpr int order(LogLevel level) {
  return level == LogLevel::kPlan ? 2 * static_cast<int>(LogLevel::kInfo) + 1
                                  : 2 * static_cast<int>(level);
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
  if (level == LogLevel::kOff || order(level) > order(log_level())) return;
  std::string line = "thinwire: ";
  line += kNames[static_cast<std::size_t>(level)];
  line += ": ";
  line += text;
  line += '\n';
  write_to_stderr(line);
}

}  // namespace thinwire
