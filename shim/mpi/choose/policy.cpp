#include "shim/mpi/choose/policy.h"

#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

Choice choice_of(int rule) {
  const Settings& settings = process().settings;
  if (rule < 0) return {&settings.codecs.front(), rule};
  const auto at = static_cast<std::size_t>(rule);
  return {&settings.codecs[settings.codec_of_rule[at]], rule, settings.holds_of_rule[at]};
}

// The type that no rule takes at all.
constexpr std::uint32_t kNoneOfThese = UINT32_MAX;
std::uint32_t dtype_for_rules(const TypeFacts& type) {
  const bool are_ruled = type.leaf != TW_BYTES || type.values == Values::kWords;
  return are_ruled ? std::uint32_t{type.leaf} : kNoneOfThese;
}

int match(const tw_policy_call& call) {
  return call.rules == 0 ? -1 : tw_policy_match(process().settings.policy, &call);
}

std::uint32_t span_to(std::uint32_t place) {
  if (place == TW_PEER_UNKNOWN) return TW_SPAN_NOT_KNOWN;
  return place == TW_PEER_OTHER_NODE ? TW_SPAN_BETWEEN_NODES : TW_SPAN_WITHIN_NODE;
}

}  // namespace

std::uint64_t rules_by_name(MPI_Comm comm) {
  if (process().settings.policy == nullptr) return 0;
  int ranks = 0, length = 0;
  real().Comm_size(comm, &ranks);
  char name[MPI_MAX_OBJECT_NAME + 1] = {};
  const bool known = real().Comm_get_name(comm, name, &length) == MPI_SUCCESS && length > 0;
  return tw_policy_rules(process().settings.policy, known ? name : nullptr,
                         static_cast<std::uint32_t>(ranks));
}

Choice choose_for_message(MPI_Comm comm, const TypeFacts& type, std::uint64_t bytes,
                          std::uint32_t place) {
  const std::uint64_t rules = rules_by_name(comm);
  return choice_of(match({sizeof(tw_policy_call), TW_POLICY_SEND, dtype_for_rules(type),
                          span_to(place), bytes, rules}));
}

Choice choose_for_collective(std::uint64_t rules, std::uint32_t operation, std::uint32_t dtype,
                             std::uint64_t bytes, bool within_node) {
  const std::uint32_t span = within_node ? TW_SPAN_WITHIN_NODE : TW_SPAN_BETWEEN_NODES;
  const int rule = match({sizeof(tw_policy_call), operation, dtype, span, bytes, rules});
  return rule < -1 ? Choice{} : choice_of(rule);
}

}  // namespace thinwire::mpi
