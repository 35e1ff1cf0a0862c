#include "shim/mpi/collective/sum_order.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "shim/mpi/choose/chosen.h"
#include "shim/mpi/choose/peers.h"
#include "shim/mpi/collective/agreement.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Says once that a communicator's sums stay the MPI's own.
void warn_of_odd(MPI_Comm comm, const Agreement& agreement) {
  static std::atomic<bool> said{false};
  int rank = 0, size = 0;
  real().Comm_rank(comm, &rank);
  real().Comm_size(comm, &size);
  if (rank != agreement.speaker || said.exchange(true)) return;
  tw_log(TW_LOG_WARNING,
         ("sums on a communicator of " + std::to_string(size) +
          " ranks are in the MPI's own order: rank " + std::to_string(agreement.odd_rank) +
          " does not run this Thinwire with these settings of collectives")
             .c_str());
}

// Says once, on the communicator's first rank, which sums no rule has ordered.
void warn_of_rules(MPI_Comm comm, std::atomic<bool>& said, const char* what) {
  int rank = 0;
  real().Comm_rank(comm, &rank);
  if (rank == 0 && !said.exchange(true)) tw_log(TW_LOG_WARNING, what);
}

// By what the ranks have published. Nothing: a launcher does not say what one of them runs.
std::optional<SumFacts> facts_of(MPI_Comm comm) {
  CommFacts& facts = comm_facts(comm);
  {
    const std::lock_guard lock(facts.mutex);
    if (facts.sums) return facts.sums;
  }
  const Agreement agreement = agreement_on(comm);
  if (agreement.standing == Standing::kNotAsked) return std::nullopt;
  SumFacts found;
  found.is_ours = agreement.standing == Standing::kSame;
  found.is_within_node = !agreement.several_nodes;
  if (!found.is_ours) warn_of_odd(comm, agreement);
  const std::lock_guard lock(facts.mutex);
  facts.sums = found;
  return found;
}

// Has all ranks compare the rules that may take the communicator's calls, as each calls it now. An
// MPI error code, raised.
int compare_rules(MPI_Comm comm) {
  const std::uint64_t own = rules_by_name(comm);
  const std::uint64_t mine[2] = {own, ~own};
  std::uint64_t all[2] = {};
  const int error = real().Allreduce(mine, all, 2, MPI_UINT64_T, MPI_MAX, comm);
  if (error != MPI_SUCCESS) return error;
  const bool are_alike = all[0] == ~all[1];  // the largest is the smallest
  keep_compared_rules(comm, {are_alike ? std::optional(own) : std::nullopt});
  return MPI_SUCCESS;
}

// A type that no codec takes goes by a rule that takes floats and doubles alike. No codec: there is
// none.
Choice choose_for_sum(std::uint64_t rules, bool is_within_node, const AskedSum& sum) {
  const auto choose = [&](tw_dtype dtype) {
    return choose_for_collective(rules, sum.operation, dtype, sum.bytes, is_within_node);
  };
  if (sum.dtype != TW_BYTES) return choose(sum.dtype);
  const Choice as_double = choose(TW_F64);
  return choose(TW_F32).rule == as_double.rule ? as_double : Choice{};
}

// The order that THINWIRE_CODEC asks for, or the rule that takes the sum if it says anything.
tw_reductions asked_of(MPI_Comm comm, const SumFacts& found, const AskedSum& sum) {
  const Settings& settings = process().settings;
  const tw_reductions of_all = settings.codecs.front().order_of_sums();
  if (!settings.rules_order_reductions()) return of_all;
  const std::optional<ComparedRules> compared = compared_rules(comm);
  if (!compared || !compared->rules) {
    static std::atomic<bool> others{false}, early{false};
    compared
        ? warn_of_rules(comm, others,
                        "no rule orders the sums of a communicator that its ranks call differently")
        : warn_of_rules(comm, early,
                        "no rule orders sums that do not block before a communicator's first "
                        "reduction that does, or collective that is compressed");
    return of_all;
  }
  const Choice choice = choose_for_sum(*compared->rules, found.is_within_node, sum);
  const tw_reductions of_rule =
      choice.use == nullptr ? TW_REDUCTIONS_NATIVE : choice.use->order_of_sums();
  return of_rule == TW_REDUCTIONS_NATIVE ? of_all : of_rule;
}

}  // namespace

std::optional<ComparedRules> compared_rules(MPI_Comm comm) {
  CommFacts& facts = comm_facts(comm);
  const std::lock_guard lock(facts.mutex);
  return facts.compared_rules;
}

void keep_compared_rules(MPI_Comm comm, const ComparedRules& compared) {
  CommFacts& facts = comm_facts(comm);
  const std::lock_guard lock(facts.mutex);
  facts.compared_rules = compared;
}

AskedOrder order_on(MPI_Comm comm, const AskedSum& sum) {
  const std::optional<SumFacts> found = facts_of(comm);
  if (!found) return {Order::kNotKnown, false, MPI_SUCCESS};
  if (!found->is_ours) return {};
  if (sum.blocks && process().settings.rules_order_reductions() && !compared_rules(comm)) {
    const int error = compare_rules(comm);
    if (error != MPI_SUCCESS) return {Order::kNotKnown, false, error};
  }
  const tw_reductions asked = asked_of(comm, *found, sum);
  if (asked == TW_REDUCTIONS_NATIVE) return {};
  return {Order::kOfRanks, asked == TW_REDUCTIONS_EXACT, MPI_SUCCESS};
}

}  // namespace thinwire::mpi
