// The calls that make communicators. Each is NCCL's own; once it has succeeded, the helper is told.
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "calls/communicators.h"
#include "calls/group.h"
#include "calls/making.h"
#include "calls/pass.h"
#include "process/presence.h"

namespace thinwire::nccl {
namespace {

// What this thread makes in a group: where NCCL will put its handle at the group's end.
struct Making {
  ncclComm_t* made;
  bool by_split;
  ncclUniqueId id;
  int rank;
  int ranks;
  bool blocks;
  SplitOff from;
};

std::vector<Making>& made_in_group() {
  static thread_local std::vector<Making> of_thread;
  return of_thread;
}

constexpr int kUndefined = INT_MIN;  // NCCL_CONFIG_UNDEF_INT

bool goes_on(ncclResult_t result) { return result == ncclSuccess || result == ncclInProgress; }

void tell(const Making& making) {
  const ncclComm_t comm = *making.made;
  if (comm == nullptr) return;
  if (!making.by_split) return opened(comm, making.id, making.rank, making.ranks, making.blocks);
  begin_split_off(comm, making.from);
  ncclResult_t state = ncclInProgress;
  const Inside inside;
  if (real().CommGetAsyncError != nullptr) real().CommGetAsyncError(comm, &state);
  if (state == ncclSuccess) seen_ready(comm);
}

ncclResult_t tell_after(ncclResult_t result, const Making& making) {
  if (Inside::now() || !settings().could_compress || !goes_on(result)) return result;
  if (in_group()) {
    made_in_group().push_back(making);
  } else {
    tell(making);
  }
  return result;
}

// NCCL's own setting stands above the program's.
bool blocks(const ncclConfig_t* config, bool otherwise) {
  if (const char* const text = std::getenv("NCCL_COMM_BLOCKING"))
    return std::strcmp(text, "0") != 0;
  return config == nullptr || config->blocking == kUndefined ? otherwise : config->blocking != 0;
}

Making by_id(ncclComm_t* made, const ncclUniqueId& id, int rank, int ranks,
             const ncclConfig_t* config) {
  return {made, false, id, rank, ranks, blocks(config, true), {}};
}

}  // namespace

void tell_made_in_group(ncclResult_t result) {
  if (made_in_group().empty()) return;
  const std::vector<Making> makings = std::exchange(made_in_group(), {});
  if (!goes_on(result)) return;
  for (const Making& each : makings) tell(each);
}

}  // namespace thinwire::nccl

using namespace thinwire::nccl;

// Into zeros, as not every NCCL clears what it does not use.
THINWIRE_EXPORTED ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (Inside::now() || id == nullptr) return THINWIRE_PASS(GetUniqueId, id);
  ncclUniqueId made{};
  const ncclResult_t result = THINWIRE_PASS(GetUniqueId, &made);
  if (result != ncclSuccess) return result;
  stamp(made);
  *id = made;
  return result;
}

THINWIRE_EXPORTED ncclResult_t ncclCommInitRank(ncclComm_t* made, int ranks, ncclUniqueId id,
                                                int rank) {
  return tell_after(THINWIRE_PASS(CommInitRank, made, ranks, id, rank),
                    by_id(made, id, rank, ranks, nullptr));
}

THINWIRE_EXPORTED ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId id,
                                                      int rank, ncclConfig_t* config) {
  return tell_after(THINWIRE_PASS(CommInitRankConfig, made, ranks, id, rank, config),
                    by_id(made, id, rank, ranks, config));
}

// All ranks have the same ids; the first one's process is where they meet.
THINWIRE_EXPORTED ncclResult_t ncclCommInitRankScalable(ncclComm_t* made, int ranks, int rank,
                                                        int ids, ncclUniqueId* id,
                                                        ncclConfig_t* config) {
  const ncclResult_t result =
      THINWIRE_PASS(CommInitRankScalable, made, ranks, rank, ids, id, config);
  return goes_on(result) ? tell_after(result, by_id(made, *id, rank, ranks, config)) : result;
}

THINWIRE_EXPORTED ncclResult_t ncclCommInitAll(ncclComm_t* made, int devices, const int* list) {
  const ncclResult_t result = THINWIRE_PASS(CommInitAll, made, devices, list);
  if (!Inside::now() && result == ncclSuccess) opened_all(made, devices);
  return result;
}

THINWIRE_EXPORTED ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key,
                                             ncclComm_t* made, ncclConfig_t* config) {
  const ncclResult_t result = THINWIRE_PASS(CommSplit, parent, color, key, made, config);
  if (Inside::now() || !goes_on(result)) return result;
  SplitOff from = next_split(parent, color);
  from.blocks = blocks(config, from.blocks);
  return tell_after(result, {made, true, {}, 0, 0, from.blocks, std::move(from)});
}

// Ranks that are lost do not call it, and may be dead.
THINWIRE_EXPORTED ncclResult_t ncclCommShrink(ncclComm_t parent, int* lost, int count,
                                              ncclComm_t* made, ncclConfig_t* config, int flags) {
  if (Inside::now()) return THINWIRE_PASS(CommShrink, parent, lost, count, made, config, flags);
  if ((flags & NCCL_SHRINK_ABORT) != 0) stop_calls(parent);
  const ncclResult_t result = THINWIRE_PASS(CommShrink, parent, lost, count, made, config, flags);
  if (!goes_on(result)) return result;
  SplitOff from = next_shrink(parent, {lost, lost + count});
  from.blocks = blocks(config, from.blocks);
  return tell_after(result, {made, true, {}, 0, 0, from.blocks, std::move(from)});
}

THINWIRE_EXPORTED ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  const ncclResult_t result = THINWIRE_PASS(CommGetAsyncError, comm, error);
  const bool ready = result == ncclSuccess && error != nullptr && *error == ncclSuccess;
  if (!Inside::now() && ready && settings().could_compress) *error = seen_ready(comm);
  return result;
}
