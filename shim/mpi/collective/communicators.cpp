#include "shim/mpi/collective/communicators.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "shim/mpi/choose/chosen.h"
#include "shim/mpi/collective/agreed_facts.h"
#include "shim/mpi/collective/agreement.h"
#include "shim/mpi/collective/groups.h"
#include "shim/mpi/collective/sum_order.h"
#include "shim/mpi/collective/thread.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/observe/report.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

namespace {

// Programs may have thousands of communicators that all stay native for one cause.
void warn(const std::string& what) {
  static std::atomic<bool> said{false};
  tw_log(said.exchange(true) ? TW_LOG_DEBUG : TW_LOG_WARNING, what.c_str());
}

std::string as_size(MPI_Comm comm) {
  int size = 0;
  real().Comm_size(comm, &size);
  return "on a communicator of " + std::to_string(size) + " ranks";
}

// From what all ranks know. One of them tells what stands in the way.
NativeReason may_compress_on(MPI_Comm comm, int rank, Agreement& agreement) {
  agreement = agreement_on(comm);
  const bool speaks = rank == agreement.speaker;
  const std::string odd = "rank " + std::to_string(agreement.odd_rank);
  const std::string where = "collectives " + as_size(comm) + " stay the MPI's own: ";
  if (agreement.standing != Standing::kSame) silence_is_explained();
  switch (agreement.standing) {
    case Standing::kSame:
      break;
    case Standing::kOff:
      if (speaks) warn(where + odd + " has switched their compression off");
      return NativeReason::kSettingsDiffer;
    case Standing::kDiffers:
      if (speaks) {
        warn(where + odd + " has \"" + agreement.odd_settings + "\", rank " + std::to_string(rank) +
             " has \"" + process().capabilities.collectives + "\"");
      }
      return NativeReason::kSettingsDiffer;
    case Standing::kNotAsked:
      tw_log(TW_LOG_ERROR,
             ("rank " + std::to_string(process().world.rank) + ": the launcher does not say what " +
              odd + " of a communicator runs, so neither whether its collectives are compressed")
                 .c_str());
      return NativeReason::kNotKnown;
    default:
      // Without a launcher nobody is proven, and MPI_Init has said so.
      if (speaks && process().job.reachable()) {
        warn(where + odd + " is not known to run this Thinwire");
      }
      return NativeReason::kPeerNotReady;
  }
  const bool same_node = process().settings.plan.same_node != 0;
  return agreement.several_nodes || same_node ? NativeReason::kCompressed : NativeReason::kSameNode;
}

// Learns what only each rank itself knows: its node, by the lowest rank of the job there, whether
// its MPI may be called by several threads, how it calls the communicator, and what it remembers of
// earlier ones of these ranks, which is taken if all remember the same. False: they call it
// differently, so that other rules of the policy take it.
bool learn_of_ranks(MPI_Comm comm, Collectives& made) {
  int size = 0;
  real().Comm_size(made.own->comm(), &size);
  const auto ranks = static_cast<std::size_t>(size);
  constexpr int kWords = 6, kOfRules = 2, kOfKinds = 4;
  std::vector<std::int32_t> all(kWords * ranks);
  const bool has_policy = process().settings.policy != nullptr;
  const ComparedRules compared = has_policy ? compared_rules(comm) : ComparedRules{};
  made.rules = compared.are_known ? compared.rules : rules_by_name(comm);
  made.world_ranks = world_ranks_of(comm);
  made.kinds = remembered_kinds(made.world_ranks);
  const std::uint64_t remembers = fingerprint(made.kinds);
  constexpr std::int32_t kThreads = 1, kShares = 2;
  const std::int32_t able = (process().concurrent ? kThreads : 0) | (can_share() ? kShares : 0);
  const std::int32_t mine[kWords] = {
      process().job.first_rank_on_this_node(), able,
      static_cast<std::int32_t>(made.rules),   static_cast<std::int32_t>(made.rules >> 32),
      static_cast<std::int32_t>(remembers),    static_cast<std::int32_t>(remembers >> 32)};
  real().Allgather(mine, kWords, MPI_INT32_T, all.data(), kWords, MPI_INT32_T, made.own->comm());
  made.nodes.resize(ranks);
  std::int32_t all_able = kThreads | kShares;
  bool alike = true, remember_alike = true;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::int32_t* const its = all.data() + kWords * rank;
    made.nodes[rank] = its[0];
    all_able &= its[1];
    alike = alike && std::equal(its + kOfRules, its + kOfKinds, mine + kOfRules);
    remember_alike = remember_alike && std::equal(its + kOfKinds, its + kWords, mine + kOfKinds);
  }
  made.threads = (all_able & kThreads) != 0;
  made.may_be_shared = (all_able & kShares) != 0;
  if (!remember_alike) made.kinds.clear();
  if (compared.are_known) return compared.are_alike;
  if (has_policy) keep_compared_rules(comm, {true, alike, made.rules});
  return alike;
}

NativeReason create(MPI_Comm comm, Collectives& made, bool speaks) {
  MPI_Comm own = MPI_COMM_NULL;
  const Duplicate outcome = duplicate_privately(comm, may_make_private(), own);
  if (outcome == Duplicate::kNotNow) return NativeReason::kNotNow;
  if (outcome == Duplicate::kNoRoom) {
    if (speaks)
      warn(
          "the MPI has no communicator left for compressed collectives, or has few and the library "
          "six");
    return NativeReason::kNoCommunicator;
  }
  set_private(made, own);
  if (!learn_of_ranks(comm, made)) {
    if (speaks) {
      warn("collectives " + as_size(comm) +
           " stay the MPI's own: the ranks call it differently, and the policy tells names apart");
    }
    return NativeReason::kSettingsDiffer;
  }
  if (made.threads) agree_on_thread(made);
  made.link = agree_on_link(made);
  // The rate of memory does not change.
  if (lies_on_one_node(made)) made.next_agreement = UINT64_MAX;
  if (made.queue.open(made.own, 0, made.nodes, rate_for_plans(made), rate_for_parts(made)) ==
      TW_OK) {
    if (made.may_be_shared) share(made);
    return NativeReason::kCompressed;
  }
  if (speaks) {
    warn("collectives " + as_size(comm) + " stay the MPI's own: " + tw_last_error());
  }
  return NativeReason::kSettingsDiffer;
}

// Rarer and rarer: a program may make communicators all the time.
void try_again_later(Collectives& made) {
  constexpr std::uint32_t kLongest = 64;
  made.pause = std::clamp(2 * made.pause, std::uint32_t{1}, kLongest);
  made.pause_left = made.pause;
  ++wanted_collectives;
}

bool is_pausing(Collectives& kept) {
  if (kept.why != NativeReason::kNotNow || kept.pause_left == 0) return false;
  --kept.pause_left;
  return true;
}

void make(MPI_Comm comm, Collectives& made) {
  Agreement agreement;
  made.why = may_compress_on(comm, made.rank, agreement);
  if (made.why == NativeReason::kCompressed) {
    made.why = create(comm, made, made.rank == agreement.speaker);
  }
  if (made.why == NativeReason::kNotNow) try_again_later(made);
}

// Nothing is there, or it is merely wanted.
Collectives& make_or_share(MPI_Comm comm, Collectives* wanted) {
  if (anything_is_shared()) {
    if (Collectives* const shared = find_shared(world_ranks_of(comm))) {
      return keep_shared(comm, wanted, *shared);
    }
  }
  if (wanted != nullptr) --wanted_collectives;
  Collectives& kept = wanted == nullptr ? keep(comm) : *wanted;
  make(comm, kept);
  return kept;
}

}  // namespace

Collectives& collectives_of(MPI_Comm comm) {
  Collectives* const known = known_collectives(comm);
  if (known != nullptr && is_pausing(*known)) return *known;
  if (known == nullptr || is_wanted(known)) return make_or_share(comm, known);
  Collectives& kept = *known;
  if (kept.why == NativeReason::kNotKnown) {
    make(comm, kept);
  } else if (kept.wants_costs) {
    learn_costs(kept);
  } else {
    kept.wait_for_started();
  }
  return kept;
}

void learn_costs(Collectives& kept) {
  kept.wait_for_started();
  if (std::exchange(kept.wants_costs, false)) --wanted_collectives;
  if (kept.wants_thread) agree_on_thread(kept);
  agree_on_link_if_due(kept);
  if (tw_comm_settle(kept.queue.comm()) == TW_OK) return;
  tw_log(TW_LOG_ERROR,
         (std::string("what a codec costs is not agreed: ") + tw_last_error()).c_str());
}

void want_collectives_of(MPI_Comm comm) {
  if (known_collectives(comm) != nullptr) return;
  keep(comm).wants_thread = true;
  ++wanted_collectives;
}

void make_wanted_collectives(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL && wants_a_call(known_collectives(comm))) collectives_of(comm);
}

}  // namespace thinwire::mpi
