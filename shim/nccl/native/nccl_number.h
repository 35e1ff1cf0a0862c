// Numbers in NCCL's environment.
#pragma once

#include <cerrno>
#include <cstdlib>

namespace thinwire::nccl {

// As NCCL reads one: the digits that a text begins with, in base 8, 10 or 16 as in C; 0 if it
// begins with none. `otherwise` if there is no such variable, its text is empty or its number is
// too large. errno stays as it was.
inline long long nccl_number(const char* name, long long otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  const int before = errno;
  errno = 0;
  const long long value = std::strtoll(text, nullptr, 0);
  const bool fits = errno == 0;
  errno = before;
  return fits ? value : otherwise;
}

}  // namespace thinwire::nccl
