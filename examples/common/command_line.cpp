#include "examples/common/command_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace examples {
namespace {

// Reads a number from a whole text, not from the beginning of one.
template <typename Number>
bool read(std::string_view text, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_shape(std::string_view text, std::vector<std::size_t>* extents) {
  std::size_t product = 1;
  extents->clear();
  for (bool more = true; more;) {
    const std::size_t end = std::min(text.find('x'), text.size());
    std::size_t extent = 0;
    if (!read(text.substr(0, end), &extent) || extent == 0) return false;
    if (product > std::numeric_limits<std::size_t>::max() / extent) return false;
    product *= extent;
    extents->push_back(extent);
    more = end < text.size();
    text.remove_prefix(more ? end + 1 : end);
  }
  return true;
}

std::string listed(const std::vector<std::string>& words) {
  std::string list = words.front();
  for (std::size_t at = 1; at < words.size(); ++at) {
    list += (at + 1 == words.size() ? " or " : ", ") + words[at];
  }
  return list;
}

std::string joined(const std::vector<std::string>& words) {
  std::string line = words.front();
  for (std::size_t at = 1; at < words.size(); ++at) line += "|" + words[at];
  return line;
}

std::string written(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

}  // namespace

void CommandLine::flag(const std::string& name, bool* value) {
  options_.push_back({name, "", "", [value](std::string_view) { return *value = true; }});
}

void CommandLine::text(const std::string& name, const std::string& what, std::string* value) {
  options_.push_back({name, what, what, [value](std::string_view text) {
                        *value = text;
                        return !text.empty();
                      }});
}

void CommandLine::integer(const std::string& name, int least, int most, int* value) {
  const bool open = most == std::numeric_limits<int>::max();
  const std::string takes = open ? "an integer from " + std::to_string(least) + " on"
                                 : "an integer that must lie between " + std::to_string(least) +
                                       " and " + std::to_string(most);
  options_.push_back({name, "N", takes, [least, most, value](std::string_view text) {
                        return read(text, value) && *value >= least && *value <= most;
                      }});
}

void CommandLine::number(const std::string& name, double least, double* value) {
  const std::string takes = "a number from " + written(least) + " on";
  options_.push_back({name, "X", takes, [least, value](std::string_view text) {
                        return read(text, value) && std::isfinite(*value) && *value >= least;
                      }});
}

void CommandLine::shape(const std::string& name, std::vector<std::size_t>* value) {
  options_.push_back({name, "ZxYxX", "extents, slowest first, as 12x224x224",
                      [value](std::string_view text) { return read_shape(text, value); }});
}

void CommandLine::add_choice(const std::string& name, const std::vector<std::string>& words,
                             const std::function<void(std::size_t)>& choose) {
  options_.push_back({name, joined(words), listed(words), [words, choose](std::string_view text) {
                        const auto found = std::find(words.begin(), words.end(), text);
                        if (found == words.end()) return false;
                        choose(static_cast<std::size_t>(found - words.begin()));
                        return true;
                      }});
}

bool CommandLine::parse(int argc, const char* const* argv, std::string* error) const {
  for (int at = 1; at < argc; ++at) {
    const std::string name = argv[at];
    const auto option = std::find_if(options_.begin(), options_.end(),
                                     [&name](const Option& one) { return one.name == name; });
    if (option == options_.end()) {
      *error = "unknown option: " + name;
      return false;
    }
    const bool flag = option->operand.empty();
    if (!flag && at + 1 == argc) {
      *error = "missing value: " + name;
      return false;
    }
    const std::string value = flag ? "" : argv[++at];
    if (!option->set(value)) {
      *error = name + " takes " + option->takes + ", not '" + value + "'";
      return false;
    }
  }
  return true;
}

std::string CommandLine::usage(const std::string& program) const {
  std::string line = "usage: " + program;
  for (const Option& option : options_) {
    line += " [" + option.name + (option.operand.empty() ? "" : " " + option.operand) + "]";
  }
  return line;
}

}  // namespace examples
