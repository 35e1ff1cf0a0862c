#include "shim/mpi/observe/rules.h"

#include <atomic>
#include <sstream>

#include "shim/mpi/state/state.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {
namespace {

struct ByRule {
  std::atomic<std::uint64_t> calls{0}, compressed{0}, bytes{0}, wire_bytes{0};
};

std::array<ByRule, kMostRules>& rule_counts() {
  static std::array<ByRule, kMostRules> of_process;
  return of_process;
}

}  // namespace

void count_by_rule(int rule, std::uint64_t bytes, std::uint64_t wire_bytes, bool compressed) {
  if (rule < 0) return;
  ByRule& of = rule_counts()[static_cast<std::size_t>(rule)];
  of.calls.fetch_add(1, std::memory_order_relaxed);
  of.compressed.fetch_add(compressed ? 1 : 0, std::memory_order_relaxed);
  of.bytes.fetch_add(bytes, std::memory_order_relaxed);
  of.wire_bytes.fetch_add(wire_bytes, std::memory_order_relaxed);
}

std::array<RuleTotals, kMostRules> totals_by_rule() {
  std::array<RuleTotals, kMostRules> totals{};
  for (std::size_t at = 0; at < kMostRules; ++at) {
    const ByRule& of = rule_counts()[at];
    totals[at] = {of.calls, of.compressed, of.bytes, of.wire_bytes};
  }
  return totals;
}

std::string rules_as_json(const std::array<RuleTotals, kMostRules>& totals) {
  const tw_policy* const policy = process().settings.policy;
  const std::uint32_t rules = tw_policy_rule_count(policy);
  std::ostringstream out;
  for (std::uint32_t at = 0; at < rules; ++at) {
    tw_policy_rule rule{};
    rule.size = sizeof rule;
    tw_policy_describe(policy, at, &rule);
    const RuleTotals& of = totals[at];
    // Neither names nor specs have characters that JSON would have written otherwise.
    out << (at == 0 ? ", \"rules\": [" : ", ") << "{\"rule\": \"" << rule.name
        << "\", \"line\": " << rule.line << ", \"codec\": \"" << rule.codec
        << "\", \"calls\": " << of.calls << ", \"compressed_calls\": " << of.compressed
        << ", \"bytes\": " << of.bytes << ", \"wire_bytes\": " << of.wire_bytes << '}';
  }
  if (rules > 0) out << ']';
  return out.str();
}

}  // namespace thinwire::mpi
