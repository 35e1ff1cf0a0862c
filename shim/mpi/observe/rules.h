// How often the policy's rules were used, and what became of what they took.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace thinwire::mpi {

// 64-bit words alone, so that ranks add them up.
struct RuleTotals {
  std::uint64_t calls, compressed, bytes, wire_bytes;
};
constexpr std::size_t kMostRules = 63;

void count_by_rule(int rule, std::uint64_t bytes, std::uint64_t wire_bytes, bool compressed);
std::array<RuleTotals, kMostRules> totals_by_rule();
// `, "rules": [...]` of the ranks' sums, in this rank's words; "" without a policy.
std::string rules_as_json(const std::array<RuleTotals, kMostRules>& totals);

}  // namespace thinwire::mpi
