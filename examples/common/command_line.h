// Options of a program as one table: how each is called, what it takes, where its value goes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace examples {

// The variables that options are tied to must outlive parse(); without their option they keep what
// they hold.
class CommandLine {
 public:
  void flag(const std::string& name, bool* value);
  void text(const std::string& name, const std::string& what, std::string* value);
  void integer(const std::string& name, int least, int most, int* value);
  // A finite number, not below `least`.
  void number(const std::string& name, double least, double* value);
  // Extents joined by x, slowest first, as in 12x224x224; each from 1 on, 64 bits in all.
  void shape(const std::string& name, std::vector<std::size_t>* value);

  // One of some words.
  template <typename Choice>
  void choice(const std::string& name, std::vector<std::pair<std::string, Choice>> choices,
              Choice* value) {
    std::vector<std::string> words;
    for (const auto& [word, unused] : choices) words.push_back(word);
    add_choice(name, words, [choices = std::move(choices), value](std::size_t chosen) {
      *value = choices[chosen].second;
    });
  }

  // On failure `error` holds a sentence for the user.
  bool parse(int argc, const char* const* argv, std::string* error) const;

  // One line with all of the options.
  std::string usage(const std::string& program) const;

 private:
  struct Option {
    std::string name;
    std::string operand;  // as the usage line shows it; empty for a flag
    std::string takes;    // the end of "--name takes ..."
    std::function<bool(std::string_view)> set;
  };

  void add_choice(const std::string& name, const std::vector<std::string>& words,
                  const std::function<void(std::size_t)>& choose);

  std::vector<Option> options_;
};

}  // namespace examples
