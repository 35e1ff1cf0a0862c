#include "shim/mpi/collective/agreement.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "shim/common/endless.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

std::mutex g_agreed_mutex;
constinit shim::Endless<std::vector<Standing>> g_all_standings;
std::vector<Standing>& g_standings = g_all_standings.object;  // by rank in the job's world
// Held while one is asked for that a call of the MPI's own might keep from being answered.
std::mutex g_asking;

// `insists`: until it is known, or the launcher is silent for long.
Standing ask(int world_rank, bool insists) {
  const Process& self = process();
  const auto [known, capabilities] = insists ? self.job.insist_on_capabilities_of(world_rank)
                                             : self.job.capabilities_of(world_rank);
  if (!known) return Standing::kNotAsked;
  if (!capabilities || capabilities->format_version != self.capabilities.format_version ||
      capabilities->codecs != self.capabilities.codecs) {
    return Standing::kAbsent;
  }
  if (capabilities->collectives.empty()) return Standing::kOff;
  if (!self.job.capabilities_are_out()) return Standing::kNotAsked;
  return capabilities->collectives == self.capabilities.collectives ? Standing::kSame
                                                                    : Standing::kDiffers;
}

Standing known_standing_of(std::size_t at) {
  const std::lock_guard lock(g_agreed_mutex);
  if (g_standings.empty()) g_standings.resize(static_cast<std::size_t>(process().world.size));
  return g_standings[at];
}

// Asks without the lock: threads that know need not wait for a launcher that is slow to answer.
Standing standing_of(int world_rank, bool insists) {
  if (world_rank < 0) return Standing::kAbsent;  // of another job
  const auto at = static_cast<std::size_t>(world_rank);
  if (const Standing known = known_standing_of(at); known != Standing::kNotAsked) return known;
  std::unique_lock asking(g_asking, std::defer_lock);
  if (!process().job.always_answers()) asking.lock();
  if (const Standing known = known_standing_of(at); known != Standing::kNotAsked) return known;
  const Standing found = ask(world_rank, insists);
  const std::lock_guard lock(g_agreed_mutex);
  if (at < g_standings.size() && g_standings[at] == Standing::kNotAsked) g_standings[at] = found;
  return found;
}

// More ranks than these are asked about by the ranks of a node together.
constexpr std::size_t kFew = 8;

// The place from which this rank goes round `count` others: ranks of a node begin at different
// ones, so that each finds most answers there.
std::size_t place_to_begin(std::size_t count) {
  if (count <= kFew) return 0;
  const Process& self = process();
  if (!self.job.share_on_node(self.world.rank, self.world.size)) return 0;
  return count * self.job.place_on_this_node(self.world.rank) /
         static_cast<std::size_t>(std::max(self.job.ranks_on_this_node(), 1));
}

// The lowest rank that finds what this one does, and tells it; at the latest this one.
int find_speaker(const std::vector<int>& world_ranks) {
  for (std::size_t rank = 0; rank < world_ranks.size(); ++rank) {
    const Standing standing = standing_of(world_ranks[rank], false);
    if (standing == Standing::kSame || standing == Standing::kDiffers)
      return static_cast<int>(rank);
  }
  return 0;
}

}  // namespace

std::vector<int> world_ranks_of(MPI_Comm comm) {
  MPI_Group group{};
  int size = 0;
  real().Comm_group(comm, &group);
  real().Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), found(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  real().Group_translate_ranks(group, size, ranks.data(), process().world.group, found.data());
  real().Group_free(&group);
  for (int& rank : found) rank = rank == MPI_UNDEFINED ? -1 : rank;
  return found;
}

Agreement agreement_on(MPI_Comm comm) {
  Agreement found;
  const Job& job = process().job;
  const std::vector<int> world_ranks = world_ranks_of(comm);
  const std::size_t count = world_ranks.size();
  const Odd odd = find_odd(count, place_to_begin(count), [&](std::size_t rank, bool insists) {
    return standing_of(world_ranks[rank], insists);
  });
  found.standing = odd.standing;
  found.odd_rank = odd.rank;
  if (odd.rank < 0) {
    found.several_nodes =
        !std::ranges::all_of(world_ranks, [&](int rank) { return job.on_this_node(rank); });
    return found;
  }
  found.speaker = find_speaker(world_ranks);
  if (odd.standing != Standing::kDiffers) return found;
  const int world_rank = world_ranks[static_cast<std::size_t>(odd.rank)];
  if (const auto its = job.capabilities_of(world_rank).capabilities)
    found.odd_settings = its->collectives;
  return found;
}

void forget_standings() {
  const std::lock_guard lock(g_agreed_mutex);
  g_standings.clear();
}

void learn_standings() {
  if (!process().settings.wants_collectives()) return;
  const auto count = static_cast<std::size_t>(process().world.size);
  const std::size_t first = place_to_begin(count);
  for (std::size_t at = 0; at < count; ++at)
    standing_of(static_cast<int>((first + at) % count), true);
}

}  // namespace thinwire::mpi
