#include "policy/reach.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "policy/policy.h"
#include "policy/tables.h"

namespace thinwire::policy {
namespace {

struct Range {
  std::uint64_t from = 0, below = 0;
};

// Calls on communicators of one name, as a product: operation, type, span, size and ranks.
struct Box {
  std::uint32_t operations = 0, dtypes = 0, spans = 0;
  Range bytes, ranks;
};

// 0 ranks are a number that is not known, which a rule that bounds it does not match. A size that
// is not known goes by the first rule whose other keys match, so that it needs no room of its own.
Box box_of(const Rule& rule) {
  const Rule any;
  const bool bounds = rule.ranks_from != any.ranks_from || rule.ranks_below != any.ranks_below;
  const std::uint64_t least = bounds ? std::max<std::uint64_t>(rule.ranks_from, 1) : 0;
  return {rule.operations,
          rule.dtypes,
          rule.spans,
          {rule.bytes_from, rule.bytes_below},
          {least, rule.ranks_below}};
}

bool meet(const Range& one, const Range& other) {
  return one.from < other.below && other.from < one.below;
}

bool meet(const Box& one, const Box& other) {
  return (one.operations & other.operations) != 0 && (one.dtypes & other.dtypes) != 0 &&
         (one.spans & other.spans) != 0 && meet(one.bytes, other.bytes) &&
         meet(one.ranks, other.ranks);
}

class Search {
 public:
  explicit Search(std::span<const Box> boxes) : boxes_(boxes) {}

  // Whether the boxes from the given one on leave nothing of `box`.
  bool covers(Box box, std::size_t from = 0) {
    while (from < boxes_.size() && !meet(boxes_[from], box)) ++from;
    if (from == boxes_.size() || ++steps_ > kMostSteps) return false;
    const Box& by = boxes_[from];
    return mask(box, by, from, &Box::operations) && mask(box, by, from, &Box::dtypes) &&
           mask(box, by, from, &Box::spans) && range(box, by, from, &Box::bytes) &&
           range(box, by, from, &Box::ranks);
  }

 private:
  static constexpr int kMostSteps = 20'000;

  // True if the boxes after `at` cover what `by` leaves of `box` on that side; `box` becomes the
  // rest.
  bool mask(Box& box, const Box& by, std::size_t at, std::uint32_t Box::* side) {
    Box left = box;
    left.*side &= ~(by.*side);
    box.*side &= by.*side;
    return left.*side == 0 || covers(left, at + 1);
  }

  bool range(Box& box, const Box& by, std::size_t at, Range Box::* side) {
    const Range whole = box.*side;
    const Range inner{std::max(whole.from, (by.*side).from),
                      std::min(whole.below, (by.*side).below)};
    for (const Range& left : {Range{whole.from, inner.from}, Range{inner.below, whole.below}}) {
      if (left.from >= left.below) continue;
      Box piece = box;
      piece.*side = left;
      if (!covers(piece, at + 1)) return false;
    }
    box.*side = inner;
    return true;
  }

  std::span<const Box> boxes_;
  int steps_ = 0;
};

// Whether the rule matches every name of the pattern, or whatever a communicator is called.
bool takes_names(const Rule& rule, const std::optional<std::string>& pattern) {
  if (rule.communicators.empty()) return true;
  return pattern && std::ranges::any_of(rule.communicators, [&](const std::string& outer) {
           return covers(outer, *pattern);
         });
}

bool are_enough(const std::vector<Rule>& rules, std::span<const std::size_t> some, const Rule& of) {
  std::vector<std::optional<std::string>> patterns(of.communicators.begin(),
                                                   of.communicators.end());
  if (patterns.empty()) patterns.emplace_back();
  return std::ranges::all_of(patterns, [&](const auto& pattern) {
    std::vector<Box> boxes;
    for (const std::size_t each : some) {
      if (takes_names(rules[each], pattern)) boxes.push_back(box_of(rules[each]));
    }
    return Search(boxes).covers(box_of(of));
  });
}

// As in "those of lines 2, 5 and 9 together take".
std::string lines_of(const std::vector<Rule>& rules, const std::vector<std::size_t>& some) {
  if (some.size() == 1)
    return "that of line " + std::to_string(rules[some.front()].line) + " takes";
  std::string text = "those of lines ";
  for (std::size_t at = 0; at < some.size(); ++at) {
    if (at > 0) text += at + 1 == some.size() ? " and " : ", ";
    text += std::to_string(rules[some[at]].line);
  }
  return text + " together take";
}

}  // namespace

std::vector<std::size_t> rules_that_cover(const std::vector<Rule>& rules, std::size_t at) {
  std::vector<std::size_t> all(at);
  for (std::size_t each = 0; each < at; ++each) {
    all[each] = each;
    if (are_enough(rules, {&all[each], 1}, rules[at])) return {each};
  }
  if (!are_enough(rules, all, rules[at])) return {};
  for (std::size_t each = all.size(); each-- > 0;) {
    std::vector<std::size_t> fewer = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(each));
    if (are_enough(rules, fewer, rules[at])) all = std::move(fewer);
  }
  return all;
}

Status check_reach(const std::vector<Rule>& rules) {
  for (std::size_t at = 0; at < rules.size(); ++at) {
    const Rule& later = rules[at];
    for (std::size_t before = 0; before < at; ++before) {
      const Rule& earlier = rules[before];
      if (!earlier.name.empty() && earlier.name == later.name) {
        return error_at(later.line, "the rule of line " + std::to_string(earlier.line) +
                                        " is called " + "'" + later.name + "'" + ", too");
      }
    }
    const std::vector<std::size_t> covering = rules_that_cover(rules, at);
    if (covering.empty()) continue;
    return error_at(later.line,
                    "the rule never matches: " + lines_of(rules, covering) + " all that it could");
  }
  return {};
}

}  // namespace thinwire::policy
