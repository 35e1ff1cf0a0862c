#include "agree/terms.h"

#include <functional>
#include <map>
#include <sstream>

#include "agree/limits.h"

namespace thinwire::nccl::agree {
namespace {

// Lines of "name=value".
std::map<std::string, std::string> read_terms(const std::string& text) {
  std::map<std::string, std::string> terms;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t sign = line.find('=');
    if (sign != std::string::npos) terms[line.substr(0, sign)] = line.substr(sign + 1);
  }
  return terms;
}

}  // namespace

std::string terms_text(const Terms& terms) {
  std::string text;
  for (const auto& [name, value] : terms) text += name + "=" + value + "\n";
  if (text.size() <= kMostText) return text;
  const std::string rest = std::to_string(std::hash<std::string>{}(text));
  return text.substr(0, kMostText - 64) + "\nthe rest=" + rest;
}

std::string difference(int one, const std::string& its_terms, int other,
                       const std::string& other_terms) {
  if (its_terms == other_terms) return "";
  auto left = read_terms(its_terms), right = read_terms(other_terms);
  for (const auto& [name, value] : right) left.try_emplace(name, "not known");
  for (const auto& [name, value] : left) {
    const auto [found, added] = right.try_emplace(name, "not known");
    if (found->second == value) continue;
    return name + " is " + value + " on " + rank_text(one) + " and " + found->second + " on " +
           rank_text(other);
  }
  return "the settings of " + rank_text(one) + " and " + rank_text(other) + " differ";
}

}  // namespace thinwire::nccl::agree
