// A failing call of the C interface as an exception.
#pragma once

#include <stdexcept>
#include <string>

#include "thinwire/thinwire.h"

namespace thinwire {

// what() is the status in words and what the library says of the cause.
class Error : public std::runtime_error {
 public:
  Error(tw_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  tw_status status() const noexcept { return status_; }

 private:
  tw_status status_;
};

// Throws what a status stands for; nothing for TW_OK.
inline void check(tw_status status) {
  if (status == TW_OK) return;
  std::string text = tw_status_text(status);
  if (const char* const cause = tw_last_error(); *cause != '\0') text.append(": ").append(cause);
  throw Error(status, text);
}

// A struct of thinwire.h, zeroed, with its `size` set.
template <class Struct>
Struct sized() {
  Struct made{};
  made.size = sizeof(Struct);
  return made;
}

}  // namespace thinwire
