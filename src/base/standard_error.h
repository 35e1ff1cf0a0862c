// Standard error of a process that may have none.
#pragma once

#include <string_view>

namespace thinwire {

// Writes with one write(2), if that takes all. Nothing is written if the process began without
// standard error: a file of the program's may have its number.
void write_to_stderr(std::string_view text);

}  // namespace thinwire
