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
  keep_compared_rules(comm, {true, are_alike, own});
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

// The order that the rule which takes the sum asks for, if it asks for one.
std::optional<tw_reductions> asked_by_rule(MPI_Comm comm, bool is_within_node,
                                           const AskedSum& sum) {
  const ComparedRules compared = compared_rules(comm);
  if (!compared.are_alike) {
    static std::atomic<bool> others{false}, early{false};
    int rank = 0;
    real().Comm_rank(comm, &rank);
    compared.are_known
        ? warn_once(rank, others,
                    "no rule orders the sums of a communicator that its ranks call differently")
        : warn_once(rank, early,
                    "no rule orders sums that do not block before a communicator's first "
                    "reduction that does, or collective that is compressed");
    return std::nullopt;
  }
  const Choice choice = choose_for_sum(compared.rules, is_within_node, sum);
  const bool asks = choice.use != nullptr && choice.use->order_of_sums() != TW_REDUCTIONS_NATIVE;
  return asks ? std::optional(choice.use->order_of_sums()) : std::nullopt;
}

}  // namespace

void warn_once(int rank, std::atomic<bool>& said, const char* what) {
  if (rank == 0 && !said.exchange(true)) tw_log(TW_LOG_WARNING, what);
}

ComparedRules compared_rules(MPI_Comm comm) {
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
  const Settings& settings = process().settings;
  tw_reductions asked = settings.codecs.front().order_of_sums();
  if (settings.rules_order_reductions()) {
    const bool compares = sum.blocks && !compared_rules(comm).are_known;
    const int error = compares ? compare_rules(comm) : MPI_SUCCESS;
    if (error != MPI_SUCCESS) return {Order::kNotKnown, false, error};
    asked = asked_by_rule(comm, found->is_within_node, sum).value_or(asked);
  }
  if (asked == TW_REDUCTIONS_NATIVE) return {};
  return {Order::kOfRanks, asked == TW_REDUCTIONS_EXACT, MPI_SUCCESS};
}

}  // namespace thinwire::mpi
