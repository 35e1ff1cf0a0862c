// Communicators: made, split, asked, ended.
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "comm.h"
#include "entry.h"
#include "group.h"

namespace fake_nccl {
namespace {

constexpr std::uint32_t kSplit = 100;

// As NCCL's: a number that nobody guesses and an address.
struct Handle {
  std::uint64_t magic;
  sockaddr_in address;
};

std::uint64_t random_number() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

// Of the interface that NCCL_SOCKET_IFNAME names, the loopback's without one.
in_addr own_address() {
  in_addr found{htonl(INADDR_LOOPBACK)};
  const char* const name = std::getenv("NCCL_SOCKET_IFNAME");
  ifaddrs* list = nullptr;
  if (name == nullptr || getifaddrs(&list) != 0) return found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    const bool is_it = each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET &&
                       std::strcmp(each->ifa_name, name) == 0;
    if (is_it) found = reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
  }
  freeifaddrs(list);
  return found;
}

std::uint64_t number_of_child(std::uint64_t parent, std::uint64_t split, int color) {
  return (parent ^ (split << 32 | static_cast<std::uint32_t>(color))) * 0x9E3779B97F4A7C15U + 1;
}

ncclResult_t start(ncclComm_t* made, int ranks, std::uint64_t id, int rank, bool blocking) {
  const bool sound =
      made != nullptr && ranks > 0 && ranks <= kMostRanks && rank >= 0 && rank < ranks;
  if (!sound) return refuse(ncclInvalidArgument);
  auto* const comm = new ncclComm;
  comm->rank = rank;
  comm->ranks = ranks;
  comm->id = id;
  comm->blocking = blocking;
  comm->error = ncclInProgress;
  if (!blocking) *made = comm;
  return submit_making(
      [=] {
        const ncclResult_t result = open(*comm);
        if (blocking) *made = comm;
        return result;
      },
      blocking);
}

bool blocks(const ncclConfig_t* config) { return config == nullptr || config->blocking != 0; }

struct Place {
  int color;
  int key;
  int rank;
};

// Who asked for which part, from every rank.
ncclResult_t ask_all(ncclComm_t comm, std::vector<Place>& places) {
  const Place own = places[comm->rank];
  return run_now(comm, [&](Exchange& messages) {
    const fake_nccl::Call call{kSplit, 0, 0, 0, sizeof(Place)};
    for (int peer = 0; peer < comm->ranks; ++peer) {
      messages.send(peer, call, &own, sizeof own);
      messages.receive(peer, call, &places[peer], sizeof(Place));
    }
  });
}

void release(ncclComm_t comm) {
  if (comm->segment != nullptr) leave(comm->segment, comm->ranks);
  delete comm;
}

}  // namespace

FAKE_NCCL(GetVersion, int* version) {
  *version = 22809;
  return ncclSuccess;
}

#ifndef FAKE_NCCL_OF_GPUS
FAKE_NCCL(OnHostMemory) { return ncclSuccess; }
#endif

FAKE_NCCL(GetUniqueId, ncclUniqueId* id) {
  Handle handle{};
  handle.magic = random_number();
  handle.address.sin_family = AF_INET;
  handle.address.sin_addr = own_address();
  std::memset(id, 0, sizeof *id);
  std::memcpy(id, &handle, sizeof handle);
  return ncclSuccess;
}

FAKE_NCCL(CommInitRankConfig, ncclComm_t* made, int ranks, ncclUniqueId id, int rank,
          ncclConfig_t* config) {
  Handle handle{};
  std::memcpy(&handle, &id, sizeof handle);
  return start(made, ranks, handle.magic, rank, blocks(config));
}

FAKE_NCCL(CommInitRank, ncclComm_t* made, int ranks, ncclUniqueId id, int rank) {
  return pncclCommInitRankConfig(made, ranks, id, rank, nullptr);
}

// Through a public name, as NCCL itself does.
FAKE_NCCL(CommInitAll, ncclComm_t* made, int devices, const int*) {
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  pncclGroupStart();
  for (int rank = 0; rank < devices; ++rank) {
    pncclCommInitRank(&made[rank], devices, id, rank);
  }
  return pncclGroupEnd();
}

FAKE_NCCL(CommSplit, ncclComm_t parent, int color, int key, ncclComm_t* made,
          ncclConfig_t* config) {
  if (const ncclResult_t error = usable(parent); error != ncclSuccess) return error;
  if (in_group()) return refuse(ncclInvalidUsage);
  std::vector<Place> places(parent->ranks);
  places[parent->rank] = {color, key, parent->rank};
  const std::uint64_t id = number_of_child(parent->id, ++parent->splits, color);
  if (const ncclResult_t error = ask_all(parent, places); error != ncclSuccess) return error;
  *made = nullptr;
  if (color < 0) return ncclSuccess;
  std::erase_if(places, [&](const Place& place) { return place.color != color; });
  std::ranges::stable_sort(places, {}, &Place::key);
  const auto own = std::ranges::find(places, parent->rank, &Place::rank);
  return start(made, static_cast<int>(places.size()), id, static_cast<int>(own - places.begin()),
               blocks(config));
}

FAKE_NCCL(CommCount, ncclComm_t comm, int* ranks) {
  if (const ncclResult_t error = usable(comm); error != ncclSuccess) return error;
  *ranks = comm->ranks;
  return ncclSuccess;
}

FAKE_NCCL(CommUserRank, ncclComm_t comm, int* rank) {
  if (const ncclResult_t error = usable(comm); error != ncclSuccess) return error;
  *rank = comm->rank;
  return ncclSuccess;
}

FAKE_NCCL(CommGetAsyncError, ncclComm_t comm, ncclResult_t* error) {
  if (comm == nullptr) return ncclInvalidArgument;
  *error = static_cast<ncclResult_t>(comm->error.load());
  return ncclSuccess;
}

FAKE_NCCL(CommFinalize, ncclComm_t comm) {
  if (const ncclResult_t error = usable(comm); error != ncclSuccess) return error;
  wait_for_calls(comm);
  comm->finalized = true;
  return ncclSuccess;
}

// Calls that are under way end, with an error at the other ranks.
FAKE_NCCL(CommRevoke, ncclComm_t comm, int flags) {
  if (comm == nullptr || flags != 0) return ncclInvalidArgument;
  comm->segment->failed = 1;
  wait_for_calls(comm);
  int none = ncclSuccess;
  comm->error.compare_exchange_strong(none, ncclInvalidUsage);
  return ncclSuccess;
}

// Of the ranks that are left, none of which waits for those that are lost.
FAKE_NCCL(CommShrink, ncclComm_t parent, int* lost, int count, ncclComm_t* made,
          ncclConfig_t* config, int flags) {
  if (parent == nullptr || in_group()) return refuse(ncclInvalidUsage);
  std::vector<int> without(lost, lost + count);
  std::ranges::sort(without);
  if (std::ranges::binary_search(without, parent->rank)) return ncclInvalidArgument;
  if ((flags & NCCL_SHRINK_ABORT) != 0) pncclCommRevoke(parent, 0);
  const auto before = std::ranges::lower_bound(without, parent->rank) - without.begin();
  std::uint64_t number = ++parent->shrinks[without];
  for (const int rank : without) number = number * 31 + static_cast<unsigned>(rank) + 1;
  const std::uint64_t id = number_of_child(parent->id, number, -2);
  return start(made, parent->ranks - count, id, parent->rank - static_cast<int>(before),
               blocks(config));
}

FAKE_NCCL(CommDestroy, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  wait_for_calls(comm);
  release(comm);
  return ncclSuccess;
}

// The other ranks' calls that wait for this one end with an error of theirs.
FAKE_NCCL(CommAbort, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  comm->given_up = true;
  while (comm->error == ncclInProgress) std::this_thread::yield();
  if (comm->segment != nullptr) comm->segment->failed = 1;
  return pncclCommDestroy(comm);
}

FAKE_NCCL(CommInitRankScalable, ncclComm_t* made, int ranks, int rank, int, ncclUniqueId* ids,
          ncclConfig_t* config) {
  return pncclCommInitRankConfig(made, ranks, ids[0], rank, config);
}

}  // namespace fake_nccl
