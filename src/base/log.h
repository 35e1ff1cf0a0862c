// Log lines on standard error, one per event, written once where the event is decided.
#pragma once

#include <string_view>

#include "base/status.h"

namespace thinwire {

// Values are part of the C ABI (tw_log_level). What is planned and why lies between info and debug.
enum class LogLevel : int { kOff = 0, kError = 1, kWarning = 2, kInfo = 3, kDebug = 4, kPlan = 5 };

// off, error, warning, info, plan or debug.
Result<LogLevel> parse_log_level(std::string_view text);

// The level of THINWIRE_LOG, read once; warning if it is not set or wrong.
LogLevel log_level();

// Writes "thinwire: <level>: <text>" and a line end with one write(2), if the level is on.
void log(LogLevel level, std::string_view text);

}  // namespace thinwire
