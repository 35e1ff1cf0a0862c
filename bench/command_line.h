// Command lines of pairs: a name, and one word behind it.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace thinwire::bench {

// A whole text, of a number not below `least`.
template <typename Number>
bool parse_number(std::string_view text, Number least, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value >= least;
}

// Calls `take` with each word of "a,b,c"; false as soon as it does not take one.
template <typename Take>
bool each_word(std::string_view text, Take take) {
  while (true) {
    const std::size_t comma = text.find(',');
    if (!take(text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

// Calls `set` with each name and its value; false and a sentence in `error` where it does not take
// one, or a value is missing.
template <typename Set>
bool each_option(int argc, char** argv, std::string* error, Set set) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) {
      *error = "no value for " + name;
      return false;
    }
    if (!set(name, std::string(argv[i + 1]))) {
      *error = "cannot take " + name + " " + argv[i + 1];
      return false;
    }
  }
  return true;
}

}  // namespace thinwire::bench
