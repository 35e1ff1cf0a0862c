#include "base/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace thinwire {

Result<std::string> read_text_file(const std::string& path) {
  constexpr std::size_t kMost = 1 << 20;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMost + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    const std::string why = errno != 0 ? std::strerror(errno) : "cannot be read";
    return {StatusCode::kInvalidArgument, path + ": " + why};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMost) return {StatusCode::kInvalidArgument, path + ": more than 1 MiB"};
  return text;
}

}  // namespace thinwire
