// Communicators: made, split, asked, ended.
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "comm.h"
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

// The address of the interface that NCCL_SOCKET_IFNAME names; without it, that of the loopback.
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

ncclUniqueId id_with(std::uint64_t magic) {
  Handle handle{};
  handle.magic = magic;
  handle.address.sin_family = AF_INET;
  handle.address.sin_addr = own_address();
  ncclUniqueId id{};
  std::memcpy(&id, &handle, sizeof handle);
  return id;
}

std::uint64_t magic_of(const ncclUniqueId& id) {
  Handle handle{};
  std::memcpy(&handle, &id, sizeof handle);
  return handle.magic;
}

std::uint64_t number_of_child(std::uint64_t parent, std::uint64_t split, int color) {
  return (parent ^ (split << 32 | static_cast<std::uint32_t>(color))) * 0x9E3779B97F4A7C15U + 1;
}

ncclComm_t fresh(int ranks, std::uint64_t id, int rank, bool blocking) {
  auto* const comm = new ncclComm;
  comm->rank = rank;
  comm->ranks = ranks;
  comm->id = id;
  comm->blocking = blocking;
  comm->error = ncclInProgress;
  begin_life(comm);
  return comm;
}

// One that does not block the program has at once; it is ready later.
ncclResult_t start(ncclComm_t* made, int ranks, std::uint64_t id, int rank, bool blocking) {
  const bool sound =
      made != nullptr && ranks > 0 && ranks <= kMostRanks && rank >= 0 && rank < ranks;
  if (!sound) return refuse(ncclInvalidArgument);
  const ncclComm_t comm = fresh(ranks, id, rank, blocking);
  if (!blocking) *made = comm;
  return submit_making(comm, [=] {
    const ncclResult_t result = open(*comm);
    if (blocking) {
      comm->error = result;
      *made = comm;
    }
    return result;
  });
}

bool blocks(const ncclConfig_t* config, bool otherwise = true) {
  const char* const text = std::getenv("NCCL_COMM_BLOCKING");
  // As NCCL reads it: a text without digits is 0.
  if (text != nullptr && *text != '\0') {
    const long long forced = std::strtoll(text, nullptr, 0);
    if (forced == 0 || forced == 1) return forced == 1;
  }
  constexpr int kUndefined = std::numeric_limits<int>::min();
  return config == nullptr || config->blocking == kUndefined ? otherwise : config->blocking != 0;
}

// Makes a part of `parent`, which is in progress; the program has no handle of the part before it
// is whole.
ncclResult_t make_part(ncclComm_t parent, ncclComm_t* made, int ranks, std::uint64_t id, int rank,
                       bool blocking) {
  const ncclComm_t comm = fresh(ranks, id, rank, blocking);
  const ncclResult_t result = open(*comm, parent);
  comm->error = result;
  *made = comm;
  return result;
}

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
  end_life(comm);
  if (comm->segment != nullptr) leave(comm->segment, comm->ranks);
  delete comm;
}

}  // namespace

FAKE_NCCL(GetVersion, int* version) {
  *version = 22809;
  return ncclSuccess;
}

FAKE_NCCL(GetUniqueId, ncclUniqueId* id) {
  *id = id_with(random_number());
  return ncclSuccess;
}

FAKE_NCCL(CommInitRankConfig, ncclComm_t* made, int ranks, ncclUniqueId id, int rank,
          ncclConfig_t* config) {
  return start(made, ranks, magic_of(id), rank, blocks(config));
}

FAKE_NCCL(CommInitRank, ncclComm_t* made, int ranks, ncclUniqueId id, int rank) {
  // Success also if the communicator is in progress, by NCCL_COMM_BLOCKING, as NCCL does.
  const ncclResult_t result = pncclCommInitRankConfig(made, ranks, id, rank, nullptr);
  return result == ncclInProgress ? ncclSuccess : result;
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

namespace {

// As NCCL has it of parts: success, while a parent that does not block is in progress.
ncclResult_t part_begun(ncclResult_t result) {
  return result == ncclInProgress ? ncclSuccess : result;
}

}  // namespace

FAKE_NCCL(CommSplit, ncclComm_t parent, int color, int key, ncclComm_t* made,
          ncclConfig_t* config) {
  if (const ncclResult_t error = usable_now(parent); error != ncclSuccess) return error;
  const bool blocking = blocks(config, parent->blocking);
  *made = nullptr;
  return part_begun(submit_making(parent, [=] {
    // Only splits that are carried out count: a group that is refused makes none.
    const std::uint64_t id = number_of_child(parent->id, ++parent->splits, color);
    std::vector<Place> places(parent->ranks);
    places[parent->rank] = {color, key, parent->rank};
    if (const ncclResult_t error = ask_all(parent, places); error != ncclSuccess) return error;
    if (color < 0) return ncclSuccess;
    std::erase_if(places, [&](const Place& place) { return place.color != color; });
    std::ranges::stable_sort(places, {}, &Place::key);
    const auto own = std::ranges::find(places, parent->rank, &Place::rank);
    return make_part(parent, made, static_cast<int>(places.size()), id,
                     static_cast<int>(own - places.begin()), blocking);
  }));
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
  if (!is_alive(comm)) return ncclInvalidArgument;
  *error = static_cast<ncclResult_t>(comm->error.load());
  return ncclSuccess;
}

FAKE_NCCL(CommFinalize, ncclComm_t comm) {
  if (const ncclResult_t error = usable_now(comm); error != ncclSuccess) return error;
  comm->finalized = true;
  return submit_making(comm, [comm] {
    wait_for_calls(comm);
    return ncclSuccess;
  });
}

// Calls that are under way end, with an error at the other ranks.
FAKE_NCCL(CommRevoke, ncclComm_t comm, int flags) {
  if (!is_alive(comm) || flags != 0 || comm->revoked || comm->finalized) return ncclInvalidArgument;
  comm->revoked = true;
  comm->segment->failed = 1;
  wait_for_jobs(comm);
  comm->error = ncclSuccess;
  return submit_making(comm, [comm] {
    wait_for_calls(comm);
    return ncclSuccess;
  });
}

// Makes a communicator of the ranks that are left, none of which waits for those that are lost.
FAKE_NCCL(CommShrink, ncclComm_t parent, int* lost, int count, ncclComm_t* made,
          ncclConfig_t* config, int flags) {
  if (!is_alive(parent)) return refuse(ncclInvalidArgument);
  if (in_group()) return refuse(ncclInvalidUsage);
  std::vector<int> without(lost, lost + count);
  std::ranges::sort(without);
  if (std::ranges::binary_search(without, parent->rank)) return ncclInvalidArgument;
  if ((flags & NCCL_SHRINK_ABORT) != 0) {
    parent->segment->failed = 1;
    wait_for_jobs(parent);
    wait_for_calls(parent);
  } else if (parent->error == ncclInProgress) {
    return ncclInvalidArgument;
  }
  const auto before = std::ranges::lower_bound(without, parent->rank) - without.begin();
  std::uint64_t number = ++parent->shrinks[without];
  for (const int rank : without) number = number * 31 + static_cast<unsigned>(rank) + 1;
  const std::uint64_t id = number_of_child(parent->id, number, -2);
  const bool blocking = blocks(config, parent->blocking);
  *made = nullptr;
  return part_begun(submit_making(parent, [=] {
    return make_part(parent, made, parent->ranks - count, id,
                     parent->rank - static_cast<int>(before), blocking);
  }));
}

namespace {

std::uint64_t number_of_grown(const ncclComm& parent, std::uint64_t grow) {
  return number_of_child(parent.id, grow, -3);
}

}  // namespace

// Makes the id for the next growth of `comm`.
FAKE_NCCL(CommGetUniqueId, ncclComm_t comm, ncclUniqueId* id) {
  if (const ncclResult_t error = usable(comm); error != ncclSuccess) return error;
  *id = id_with(number_of_grown(*comm, comm->grows + 1));
  return ncclSuccess;
}

FAKE_NCCL(CommGrow, ncclComm_t parent, int ranks, const ncclUniqueId* id, int rank,
          ncclComm_t* made, ncclConfig_t* config) {
  *made = nullptr;
  if (parent == nullptr) {
    if (id == nullptr || rank < 0) return ncclInvalidArgument;
    return start(made, ranks, magic_of(*id), rank, blocks(config));
  }
  if (const ncclResult_t error = usable_now(parent); error != ncclSuccess) return error;
  if (rank != -1 || ranks <= parent->ranks) return ncclInvalidArgument;
  return start(made, ranks, number_of_grown(*parent, ++parent->grows), parent->rank,
               blocks(config, parent->blocking));
}

// All that is under way is complete first.
FAKE_NCCL(CommSuspend, ncclComm_t comm, int) {
  if (const ncclResult_t error = usable_now(comm); error != ncclSuccess) return error;
  return submit_making(comm, [comm] {
    wait_for_calls(comm);
    comm->suspended = true;
    return ncclSuccess;
  });
}

FAKE_NCCL(CommResume, ncclComm_t comm) {
  if (!is_alive(comm) || !comm->suspended) return ncclInvalidUsage;
  return submit_making(comm, [comm] {
    comm->suspended = false;
    return ncclSuccess;
  });
}

// One that is in progress lives on.
FAKE_NCCL(CommDestroy, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (!is_alive(comm)) return ncclInvalidArgument;
  if (comm->error == ncclInProgress) return ncclInvalidArgument;
  wait_for_jobs(comm);
  wait_for_calls(comm);
  release(comm);
  return ncclSuccess;
}

// The other ranks' calls that wait for this one end with an error of theirs.
FAKE_NCCL(CommAbort, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (!is_alive(comm)) return ncclInvalidArgument;
  comm->given_up = true;
  if (comm->segment != nullptr) comm->segment->failed = 1;
  wait_for_jobs(comm);
  if (comm->segment != nullptr) comm->segment->failed = 1;
  wait_for_calls(comm);
  release(comm);
  return ncclSuccess;
}

FAKE_NCCL(CommInitRankScalable, ncclComm_t* made, int ranks, int rank, int, ncclUniqueId* ids,
          ncclConfig_t* config) {
  return pncclCommInitRankConfig(made, ranks, ids[0], rank, config);
}

}  // namespace fake_nccl
