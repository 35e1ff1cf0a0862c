// Log lines on standard error, one per event, written once where the event is decided.
#pragma once

#include <string_view>

namespace thinwire {

enum class LogLevel : int { kOff = 0, kError = 1, kWarning = 2, kInfo = 3, kDebug = 4 };

// The level of THINWIRE_LOG (off, error, warning, info, debug), read once; warning by default.
LogLevel log_level();

// Writes "thinwire: <level>: <text>" and a line end with one write(2), if the level is on.
void log(LogLevel level, std::string_view text);

}  // namespace thinwire
