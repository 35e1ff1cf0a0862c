#include "policy/pattern.h"

#include <cstddef>

namespace thinwire::policy {
namespace {

// The last * is the only one that need ever be tried again: time is the product of the lengths.
template <typename Takes>
bool walk(std::string_view pattern, std::string_view name, Takes takes) {
  constexpr auto kNone = std::string_view::npos;
  std::size_t at = 0, in = 0, star = kNone, resume = 0;
  while (in < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = in;
    } else if (at < pattern.size() && takes(pattern[at], name[in])) {
      ++at;
      ++in;
    } else if (star != kNone) {
      at = star + 1;
      in = ++resume;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  return walk(pattern, name, [](char of, char each) { return of == '?' || of == each; });
}

// The inner one as if it were a name: its * only a * can stand for, its ? a * or a ?.
bool covers(std::string_view outer, std::string_view inner) {
  return walk(outer, inner, [](char of, char each) {
    if (each == '*') return false;
    return of == '?' || (of == each && each != '?');
  });
}

}  // namespace thinwire::policy
