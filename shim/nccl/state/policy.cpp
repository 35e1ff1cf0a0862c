#include "state/policy.h"

#include <sstream>

#include "state/operation.h"

namespace thinwire::nccl {
namespace {

struct ByRule {
  std::atomic<std::uint64_t> calls{0}, compressed{0}, bytes{0}, wire_bytes{0};
};
constexpr std::size_t kMostRules = 63;

std::array<ByRule, kMostRules>& counters() {
  static std::array<ByRule, kMostRules> of_process;
  return of_process;
}

}  // namespace

Choice choose(int operation, std::uint32_t dtype, std::uint64_t bytes, std::uint64_t rules) {
  Choice made;
  if (rules == 0) return made;
  for (const Side side : {kWithinNode, kBetweenNodes}) {
    const std::uint32_t span = side == kWithinNode ? TW_SPAN_WITHIN_NODE : TW_SPAN_BETWEEN_NODES;
    const tw_policy_call call{sizeof call, kOperationRows[operation].of_policy, dtype, span, bytes,
                              rules};
    const int rule = tw_policy_match(settings().policy, &call);
    made.rule[side] = rule;
    if (rule >= 0) made.codec[side] = settings().codec_of_rule[static_cast<std::size_t>(rule)];
  }
  return made;
}

std::uint64_t rules_for(const std::string& name, int ranks) {
  const char* const known = name.empty() ? nullptr : name.c_str();
  return tw_policy_rules(settings().policy, known, static_cast<std::uint32_t>(ranks));
}

std::uint32_t siblings_by(std::uint64_t rules) {
  for (std::uint32_t at = 0; rules >> at != 0; ++at) {
    if ((rules >> at & 1U) == 0) continue;
    tw_policy_rule rule{};
    rule.size = sizeof rule;
    const tw_status known = tw_policy_describe(settings().policy, at, &rule);
    if (known == TW_OK && rule.siblings != 0) return rule.siblings;
  }
  return 0;
}

void count_by_rule(int rule, std::uint64_t bytes, std::uint64_t wire_bytes, bool compressed) {
  if (rule < 0) return;
  ByRule& of = counters()[static_cast<std::size_t>(rule)];
  of.calls.fetch_add(1, std::memory_order_relaxed);
  of.compressed.fetch_add(compressed ? 1 : 0, std::memory_order_relaxed);
  of.bytes.fetch_add(bytes, std::memory_order_relaxed);
  of.wire_bytes.fetch_add(wire_bytes, std::memory_order_relaxed);
}

std::string rules_as_json() {
  const std::uint32_t rules = tw_policy_rule_count(settings().policy);
  std::ostringstream out;
  for (std::uint32_t at = 0; at < rules; ++at) {
    tw_policy_rule rule{};
    rule.size = sizeof rule;
    tw_policy_describe(settings().policy, at, &rule);
    const ByRule& of = counters()[at];
    // Neither names nor specs have characters that JSON would have written otherwise.
    out << (at == 0 ? "[" : ", ") << "{\"rule\": \"" << rule.name << "\", \"line\": " << rule.line
        << ", \"codec\": \"" << rule.codec << "\", \"calls\": " << of.calls
        << ", \"compressed_calls\": " << of.compressed << ", \"bytes\": " << of.bytes
        << ", \"wire_bytes\": " << of.wire_bytes << '}';
  }
  if (rules > 0) out << ']';
  return out.str();
}

}  // namespace thinwire::nccl
