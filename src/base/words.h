// Lists in a text.
#pragma once

#include <string_view>

namespace thinwire {

// Calls take(std::string_view) with what lies between two separators, one after another; empty
// parts count.
template <typename Take>
void for_each_word(std::string_view text, char separator, Take&& take) {
  while (true) {
    const auto end = text.find(separator);
    take(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace thinwire
