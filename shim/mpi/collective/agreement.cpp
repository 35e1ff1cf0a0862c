#include "shim/mpi/collective/agreement.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

std::mutex g_agreed_mutex;
std::vector<Standing> g_standings;  // by rank in the job's world
// Held while one is asked for that a call of the MPI's own might keep from being answered.
std::mutex g_asking;

Standing ask(int world_rank) {
  const Process& self = process();
  const auto [known, capabilities] = self.job.insist_on_capabilities_of(world_rank);
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
Standing standing_of(int world_rank) {
  if (world_rank < 0) return Standing::kAbsent;  // of another job
  const auto at = static_cast<std::size_t>(world_rank);
  if (const Standing known = known_standing_of(at); known != Standing::kNotAsked) return known;
  std::unique_lock asking(g_asking, std::defer_lock);
  if (!process().job.always_answers()) asking.lock();
  if (const Standing known = known_standing_of(at); known != Standing::kNotAsked) return known;
  const Standing found = ask(world_rank);
  const std::lock_guard lock(g_agreed_mutex);
  if (at < g_standings.size() && g_standings[at] == Standing::kNotAsked) g_standings[at] = found;
  return found;
}

// More ranks than these are asked about by the ranks of a node together.
constexpr std::size_t kFew = 8;

// Asks about all of them, or up to one that is not known. Ranks of a node begin at different ones,
// so that each finds most answers there. Returns which one is not known, -1: none.
int ask_about(const std::vector<int>& world_ranks, bool all) {
  const Process& self = process();
  const std::size_t count = world_ranks.size();
  std::size_t first = 0;
  if (count > kFew) {
    self.job.share_on_node(self.world.rank, self.world.size);
    first = count * self.job.place_on_this_node(self.world.rank) /
            static_cast<std::size_t>(std::max(self.job.ranks_on_this_node(), 1));
  }
  int unknown = -1;
  for (std::size_t at = 0; at < count && (all || unknown < 0); ++at) {
    const std::size_t which = (first + at) % count;
    if (standing_of(world_ranks[which]) == Standing::kNotAsked) unknown = static_cast<int>(which);
  }
  return unknown;
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
  if (const int unknown = ask_about(world_ranks, false); unknown >= 0) {
    found.standing = Standing::kNotAsked;
    found.odd_rank = unknown;
    return found;
  }
  bool somebody = false;
  for (int rank = 0; rank < static_cast<int>(world_ranks.size()); ++rank) {
    const int world_rank = world_ranks[static_cast<std::size_t>(rank)];
    const Standing standing = standing_of(world_rank);
    found.several_nodes = found.several_nodes || !job.on_this_node(world_rank);
    if (!somebody && (standing == Standing::kSame || standing == Standing::kDiffers)) {
      found.speaker = rank;
      somebody = true;
    }
    if (standing == Standing::kSame || found.standing != Standing::kSame) continue;
    found.standing = standing;
    found.odd_rank = rank;
    if (standing != Standing::kDiffers) continue;
    if (const auto capabilities = job.capabilities_of(world_rank).capabilities)
      found.odd_settings = capabilities->collectives;
  }
  return found;
}

void forget_standings() {
  const std::lock_guard lock(g_agreed_mutex);
  g_standings.clear();
}

void learn_standings() {
  if (!process().settings.wants_collectives()) return;
  std::vector<int> all(static_cast<std::size_t>(process().world.size));
  std::iota(all.begin(), all.end(), 0);
  ask_about(all, true);
}

}  // namespace thinwire::mpi
