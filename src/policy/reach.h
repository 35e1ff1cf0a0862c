// Whether a rule takes anything that rules before it leave, and has a name of its own.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "policy/policy.h"

namespace thinwire::policy {

// Rules before `rules[at]` that together take all that it could, as few as take it; empty if
// something is left to it, and where that was not found out: patterns of names are compared one
// with one, and a search that would take long is given up.
std::vector<std::size_t> rules_that_cover(const std::vector<Rule>& rules, std::size_t at);

// kInvalidArgument, "LINE: WHAT", if a rule never matches, or two have one name.
Status check_reach(const std::vector<Rule>& rules);

}  // namespace thinwire::policy
