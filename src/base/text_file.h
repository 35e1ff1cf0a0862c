// Files of text that users name or write.
#pragma once

#include <string>

#include "base/status.h"

namespace thinwire {

// All of a file, of at most 1 MiB: a wrong path may be one of something endless. kInvalidArgument,
// with the path, if it cannot be read.
Result<std::string> read_text_file(const std::string& path);

}  // namespace thinwire
