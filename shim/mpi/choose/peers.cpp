#include "shim/mpi/choose/peers.h"

#include <algorithm>

#include "shim/mpi/choose/ending.h"
#include "shim/mpi/native/keyval.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

std::atomic<std::uint64_t> early_message_count{0};

namespace {

Keyval g_keyval;
std::mutex g_attribute_mutex;

enum : int { kNotAsked, kYes, kNo };
std::atomic<int> g_anybody_compresses{kNotAsked};

extern "C" int thinwire_comm_not_copied(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

extern "C" int thinwire_comm_deleted(MPI_Comm comm, int, void* facts, void*) {
  if (Ending* const ending = Ending::of(comm)) {
    ending->facts = static_cast<CommFacts*>(facts);
  } else {
    delete static_cast<CommFacts*>(facts);
  }
  return MPI_SUCCESS;
}

CommFacts* find_facts(MPI_Comm comm) {
  const Ending* const ending = Ending::of(comm);
  if (ending != nullptr && ending->facts != nullptr) return ending->facts;
  void* kept = nullptr;
  int found = 0;
  real().Comm_get_attr(comm, g_keyval.get(), &kept, &found);
  return found ? static_cast<CommFacts*>(kept) : nullptr;
}

CommFacts* make_facts(MPI_Comm comm) {
  auto* facts = new CommFacts;
  if (Ending* const ending = Ending::of(comm)) {
    ending->facts = facts;
  } else {
    keep_facts(comm, facts);
  }
  return facts;
}

// The rank in MPI_COMM_WORLD, or MPI_UNDEFINED for a process of another job.
int world_rank_of(MPI_Comm comm, int rank) {
  int inter = 0, size = 0;
  MPI_Group group{};
  real().Comm_test_inter(comm, &inter);
  (inter ? real().Comm_remote_group : real().Comm_group)(comm, &group);
  real().Group_size(group, &size);
  int world_rank = MPI_UNDEFINED;
  if (rank < size) {
    real().Group_translate_ranks(group, 1, &rank, process().world.group, &world_rank);
  }
  real().Group_free(&group);
  return world_rank;
}

// While they are not known, a rank may be one that compresses, but not one to encode for.
Peer unknown_for_now(Peer peer) {
  peer.known = false;
  peer.may_send_compressed = true;
  return peer;
}

// Whether the peer decodes all that frames under this spec may name.
bool has_codecs_of(const tw_codec* codec, const Capabilities& capabilities) {
  std::uint32_t ids[256];
  const std::uint32_t count = tw_codec_ids(codec, ids, 256);
  return count > 0 && std::all_of(ids, ids + count, [&](std::uint32_t id) {
           return std::find(capabilities.codecs.begin(), capabilities.codecs.end(), id) !=
                  capabilities.codecs.end();
         });
}

Peer examine(int world_rank) {
  Peer peer;
  const Process& self = process();
  if (world_rank == MPI_UNDEFINED || world_rank == MPI_PROC_NULL) return peer;
  peer.world_rank = world_rank;
  const bool same_node = self.job.on_this_node(world_rank);
  peer.place = world_rank == self.world.rank ? TW_PEER_SELF
               : same_node                   ? TW_PEER_SAME_NODE
                                             : TW_PEER_OTHER_NODE;
  const auto [known, capabilities] = self.job.capabilities_of(world_rank);
  if (!known) return unknown_for_now(peer);
  if (!capabilities || capabilities->format_version != tw_format_version()) return peer;
  // Who does not find this rank's capabilities does not look for its frames.
  peer.ready = self.job.capabilities_are_out() &&
               std::ranges::all_of(self.settings.codecs, [&](const CodecUse& use) {
                 return use.is_off() || has_codecs_of(use.codec.get(), *capabilities);
               });
  peer.may_send_compressed =
      capabilities->sends_compressed && (!same_node || capabilities->sends_same_node);
  peer.inspect_threshold = capabilities->inspect_threshold;
  return peer;
}

// Keeps a peer. If some data was declined already, a new peer's may be of the same kind.
Peer keep(CommFacts& facts, int rank, Peer peer) {
  KnownPeer& kept = facts.peers[rank];
  if (process().counters.raw_by_reason[TW_RAW_DECLINED] != 0) kept.channels.doubt();
  peer.channels = &kept.channels;
  return kept.peer = peer;
}

}  // namespace

CommFacts::~CommFacts() { early_message_count -= early_messages.size(); }

void keep_facts(MPI_Comm comm, CommFacts* facts) {
  real().Comm_set_attr(comm, g_keyval.get(), facts);
}

CommFacts& comm_facts(MPI_Comm comm) {
  g_keyval.get_or([](int* made) {
    real().Comm_create_keyval(thinwire_comm_not_copied, thinwire_comm_deleted, made, nullptr);
  });
  if (CommFacts* facts = find_facts(comm)) return *facts;
  const std::lock_guard lock(g_attribute_mutex);
  if (CommFacts* facts = find_facts(comm)) return *facts;
  return *make_facts(comm);
}

CommFacts* known_facts(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || !g_keyval.is_made()) return nullptr;
  return find_facts(comm);
}

// Nobody waits for a launcher that is slow to answer but who asked it.
Peer peer_of(MPI_Comm comm, int rank) {
  if (rank < 0 || comm == MPI_COMM_NULL) return {};
  CommFacts& facts = comm_facts(comm);
  const auto known = [&]() -> const Peer* {
    const auto found = facts.peers.find(rank);
    return found == facts.peers.end() ? nullptr : &found->second.peer;
  };
  {
    const std::lock_guard lock(facts.mutex);
    if (const Peer* const peer = known()) return *peer;
  }
  const Peer peer = examine(world_rank_of(comm, rank));
  if (!peer.known) return peer;
  const std::lock_guard lock(facts.mutex);
  const Peer* const by_another = known();
  return by_another == nullptr ? keep(facts, rank, peer) : *by_another;
}

// On a world of one node the capabilities tell whether anybody compresses at all; across nodes
// somebody may, and asking every rank would grow with the job.
bool anybody_compresses() {
  const int before = g_anybody_compresses.load(std::memory_order_relaxed);
  if (before != kNotAsked) return before == kYes;
  const Process& self = process();
  if (!self.job.reachable()) return false;
  bool found = self.job.ranks_on_this_node() < self.world.size;
  for (int rank = 0; rank < self.world.size && !found; ++rank) {
    const Peer peer = examine(rank);
    if (!peer.known) return true;
    found = peer.may_send_compressed;
  }
  g_anybody_compresses.store(found ? kYes : kNo, std::memory_order_relaxed);
  return found;
}

bool may_be_pulled() { return process().concurrent && shim_is_active() && anybody_compresses(); }

bool may_receive_compressed(MPI_Comm comm, int source) {
  if (!process().job.reachable() || comm == MPI_COMM_NULL || source == MPI_PROC_NULL) return false;
  if (source == MPI_ANY_SOURCE) return anybody_compresses();
  return peer_of(comm, source).may_send_compressed;
}

void release_peers() {
  g_keyval.release([](int* made) { real().Comm_free_keyval(made); });
  g_anybody_compresses.store(kNotAsked, std::memory_order_relaxed);
}

}  // namespace thinwire::mpi
