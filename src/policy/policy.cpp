#include "policy/policy.h"

#include <algorithm>
#include <cstddef>

#include "base/bytes.h"
#include "plan/operation.h"

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

namespace {

constexpr const char* kWords[kOperations] = {"bcast",     "allgather",      "gather",
                                             "scatter",   "alltoall",       "reduce",
                                             "allreduce", "reduce-scatter", "send"};
static_assert(plan::kOperationCount == kSend);
constexpr std::uint64_t kAnySize = std::numeric_limits<std::uint64_t>::max();
constexpr const char* kSpanWords[] = {"", "within a node", "between nodes"};

// "a, b and c" of the words whose bits are set; "" if all are.
template <typename Word>
std::string listed(std::uint32_t bits, std::uint32_t from, std::uint32_t to, Word word) {
  std::vector<std::string> words;
  bool all = true;
  for (std::uint32_t at = from; at < to; ++at) {
    if ((bits >> at & 1U) != 0) {
      words.push_back(word(at));
    } else {
      all = false;
    }
  }
  if (all) return "";
  std::string text;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (at > 0) text += at + 1 == words.size() ? " and " : ", ";
    text += words[at];
  }
  return text;
}

std::string range_text(std::uint64_t from, std::uint64_t below, const char* unit) {
  std::string text;
  if (from > 0) text += ", from " + std::to_string(from);
  if (below != std::numeric_limits<std::uint64_t>::max()) {
    text += (from > 0 ? " to below " : ", below ") + std::to_string(below);
  }
  return text.empty() ? text : text + unit;
}

}  // namespace

const char* operation_word(std::uint32_t operation) {
  return operation < kOperations ? kWords[operation] : nullptr;
}

std::string Rule::text() const {
  std::string made = listed(operations, 0, kOperations, operation_word);
  if (made.empty()) made = "all operations";
  if (!communicators.empty()) made += " on communicators named ";
  for (const std::string& each : communicators) {
    made += (&each == &communicators.front() ? "" : " or ") + each;
  }
  const std::string types = listed(dtypes, 1, kDtypeCount, [](std::uint32_t dtype) {
    return dtype_name(static_cast<Dtype>(dtype));
  });
  if (holds != Dtype::kBytes) {
    made += std::string(", of bytes and 16-bit integers that hold ") + dtype_name(holds);
  } else if (!types.empty()) {
    made += ", of " + types;
  }
  const std::string where =
      listed(spans, 0, 3, [](std::uint32_t span) { return kSpanWords[span]; });
  if (!where.empty()) made += ", " + where;
  made += range_text(bytes_from, bytes_below, " bytes");
  made += range_text(ranks_from, ranks_below, " ranks");
  if (siblings == 1) made += ", each decided on alone";
  if (siblings > 1) made += ", " + std::to_string(siblings) + " of a name decided on together";
  return made + ": " + codec;
}

std::uint64_t Policy::hash() const {
  std::string all;
  for (const Rule& each : rules_) {
    all += each.text() + '\n';
    // A pattern may have any words, but no end of a line.
    for (const std::string& pattern : each.communicators) all += ' ' + pattern + '\n';
  }
  return hash_of(all);
}

RuleSet Policy::rules_of(const std::optional<std::string_view>& name, std::uint64_t ranks) const {
  RuleSet found = 0;
  for (std::size_t at = 0; at < rules_.size(); ++at) {
    const Rule& rule = rules_[at];
    const Rule any;
    const bool bounds = rule.ranks_from != any.ranks_from || rule.ranks_below != any.ranks_below;
    if (bounds && (ranks == 0 || ranks < rule.ranks_from || ranks >= rule.ranks_below)) continue;
    const auto takes = [&](const std::string& pattern) { return matches(pattern, *name); };
    const bool named =
        rule.communicators.empty() || (name && std::ranges::any_of(rule.communicators, takes));
    if (named) found |= RuleSet{1} << at;
  }
  return found;
}

int Policy::match(const Call& call, RuleSet among) const {
  for (std::size_t at = 0; at < rules_.size(); ++at) {
    const Rule& rule = rules_[at];
    const bool may = (among >> at & 1U) != 0 && (rule.operations >> call.operation & 1U) != 0 &&
                     (rule.dtypes & dtype_bit(call.dtype)) != 0 &&
                     (rule.spans >> static_cast<std::uint32_t>(call.span) & 1U) != 0;
    if (!may) continue;
    const bool any_size = rule.bytes_from == 0 && rule.bytes_below == kAnySize;
    if (call.bytes == kAnySize && !any_size) return -2;
    if (any_size || (call.bytes >= rule.bytes_from && call.bytes < rule.bytes_below)) {
      return static_cast<int>(at);
    }
  }
  return -1;
}

}  // namespace thinwire::policy
