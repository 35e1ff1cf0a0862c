// Input and output of benchmark programs: command lines of pairs, a name and one word after it;
// lines of JSON.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "thinwire/thinwire.h"

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

// Sizes in bytes: multiples of 8, as "8,64".
inline bool parse_sizes(std::string_view text, std::vector<std::int64_t>* sizes) {
  sizes->clear();
  return each_word(text, [&](std::string_view word) {
    std::int64_t size = 0;
    if (!parse_number<std::int64_t>(word, 8, &size) || size % 8 != 0) return false;
    sizes->push_back(size);
    return true;
  });
}

// A float type by its name.
inline bool parse_dtype(std::string_view text, tw_dtype* dtype) {
  constexpr std::string_view kNames[] = {"bytes", "f32", "f64", "f16", "bf16"};
  for (std::uint32_t code = TW_F32; code <= TW_BF16; ++code) {
    if (text != kNames[code]) continue;
    *dtype = static_cast<tw_dtype>(code);
    return true;
  }
  return false;
}

// Calls `set` with each name and its value; false and a sentence in `error` if it does not take
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

// A text as JSON has it.
inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter < ' ' ? ' ' : letter;
  }
  return out + '"';
}

// Median, least and most of sorted times, as members of a JSON object.
inline void print_seconds(const char* prefix, const std::vector<double>& seconds) {
  std::printf("\"%sseconds\": %.9f, \"%smin\": %.9f, \"%smax\": %.9f, ", prefix,
              seconds[seconds.size() / 2], prefix, seconds.front(), prefix, seconds.back());
}

}  // namespace thinwire::bench
