// The calls that make communicators. Each is NCCL's own; once it has succeeded, the helper is told.
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/of_thread.h"
#include "calls/group.h"
#include "calls/making.h"
#include "calls/pass.h"
#include "calls/stopping.h"
#include "calls/unfinished.h"
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
  ncclComm_t parent = nullptr;  // of a part
  bool parent_blocks = true;
  std::string name{};
};

std::vector<Making>& made_in_group() { return of_thread<std::vector<Making>>(); }

constexpr int kUndefined = INT_MIN;  // NCCL_CONFIG_UNDEF_INT

// Parts of communicators that do not block: NCCL gives the program its handle when the parent is no
// longer in progress.
struct Parts {
  std::mutex mutex;
  std::vector<Making> makings;
};

Parts& parts() {
  static Parts* const made = new Parts;
  return *made;
}

// A split has no part for this rank: what it points to is not looked at.
bool is_left_out(const Making& making) {
  return making.by_split && making.from.color == NCCL_SPLIT_NOCOLOR;
}

void tell(const Making& making) {
  if (is_left_out(making)) return left_out(making.from);
  const ncclComm_t comm = *making.made;
  if (comm == nullptr) return;
  if (!making.by_split) {
    return opened(comm, making.id, making.rank, making.ranks, making.blocks, making.name);
  }
  begin_split_off(comm, making.from);
  ncclResult_t state = ncclInProgress;
  const Inside inside;
  if (real().CommGetAsyncError != nullptr) real().CommGetAsyncError(comm, &state);
  if (state == ncclSuccess) seen_ready(comm);
}

// By its handle, not by what the call has returned: NCCL returns success also where the parent is
// in progress.
void tell_then(const Making& making) {
  const bool is_known = making.parent_blocks || is_left_out(making) || *making.made != nullptr;
  if (is_known) return tell(making);
  const std::lock_guard lock(parts().mutex);
  parts().makings.push_back(making);
}

ncclResult_t tell_after(ncclResult_t result, const Making& making) {
  if (Inside::now() || !settings().could_compress || !is_taken(result)) return result;
  if (in_group()) {
    made_in_group().push_back(making);
  } else {
    tell_then(making);
  }
  return result;
}

// NCCL's own setting stands above the program's.
bool blocks(const ncclConfig_t* config, bool otherwise) {
  if (const char* const text = std::getenv("NCCL_COMM_BLOCKING"))
    return std::strcmp(text, "0") != 0;
  return config == nullptr || config->blocking == kUndefined ? otherwise : config->blocking != 0;
}

// What NCCL from 2.27 on has in its configuration, behind what is declared here.
std::string name_in(const ncclConfig_t* config) {
  constexpr std::size_t kAt = 48;
  constexpr unsigned kSince = 22700;
  const char* name = nullptr;
  if (config != nullptr && config->size >= kAt + sizeof name && config->version >= kSince) {
    std::memcpy(&name, reinterpret_cast<const char*>(config) + kAt, sizeof name);
  }
  return name == nullptr ? "" : name;
}

Making by_id(ncclComm_t* made, const ncclUniqueId& id, int rank, int ranks,
             const ncclConfig_t* config) {
  return {made, false, id, rank, ranks, blocks(config, true), {}, nullptr, true, name_in(config)};
}

// Without a configuration of its own it has its parent's.
Making part(ncclComm_t* made, SplitOff from, ncclComm_t parent, const ncclConfig_t* config) {
  const bool parent_blocks = from.blocks;
  from.blocks = blocks(config, from.blocks);
  if (config != nullptr) from.name = name_in(config);
  const bool blocks = from.blocks;
  return {made, true, {}, 0, 0, blocks, std::move(from), parent, parent_blocks, {}};
}

}  // namespace

// Other ranks have made a part under its number only if this one has, too. A group may fail after
// that: the handle shows it.
void tell_made_in_group(ncclResult_t result) {
  if (made_in_group().empty()) return;
  const std::vector<Making> makings = std::exchange(made_in_group(), {});
  for (const Making& each : makings) {
    const bool has_part = each.by_split && !is_left_out(each) && *each.made != nullptr;
    if (is_taken(result) || has_part) {
      tell_then(each);
    } else if (each.by_split) {
      take_back(each.parent, each.from);
    }
  }
}

void tell_parts_of(ncclComm_t parent) {
  const std::lock_guard lock(parts().mutex);
  std::erase_if(parts().makings, [&](const Making& each) {
    if (each.parent != parent) return false;
    tell(each);
    return true;
  });
}

void forget_parts_of(ncclComm_t parent) {
  if (!settings().could_compress) return;
  const std::lock_guard lock(parts().mutex);
  std::erase_if(parts().makings, [&](const Making& each) { return each.parent == parent; });
}

}  // namespace thinwire::nccl

using namespace thinwire::nccl;

// Into zeros, as not every NCCL clears what it does not use.
THINWIRE_EXPORTED ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (Inside::now() || id == nullptr) return THINWIRE_PASS(GetUniqueId, id);
  ncclUniqueId made{};
  const ncclResult_t result = THINWIRE_PASS(GetUniqueId, &made);
  if (result != ncclSuccess) return result;
  allowed([&] { stamp(made); });
  *id = made;
  return result;
}

THINWIRE_EXPORTED ncclResult_t ncclCommInitRank(ncclComm_t* made, int ranks, ncclUniqueId id,
                                                int rank) {
  return guarded(THINWIRE_NATIVE(CommInitRank, made, ranks, id, rank), [&](auto& native) {
    return tell_after(native(), by_id(made, id, rank, ranks, nullptr));
  });
}

THINWIRE_EXPORTED ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId id,
                                                      int rank, ncclConfig_t* config) {
  return guarded(
      THINWIRE_NATIVE(CommInitRankConfig, made, ranks, id, rank, config),
      [&](auto& native) { return tell_after(native(), by_id(made, id, rank, ranks, config)); });
}

// All ranks have the same ids; the first one's process is where they meet.
THINWIRE_EXPORTED ncclResult_t ncclCommInitRankScalable(ncclComm_t* made, int ranks, int rank,
                                                        int ids, ncclUniqueId* id,
                                                        ncclConfig_t* config) {
  return guarded(THINWIRE_NATIVE(CommInitRankScalable, made, ranks, rank, ids, id, config),
                 [&](auto& native) {
                   const ncclResult_t result = native();
                   if (!is_taken(result)) return result;
                   return tell_after(result, by_id(made, *id, rank, ranks, config));
                 });
}

THINWIRE_EXPORTED ncclResult_t ncclCommInitAll(ncclComm_t* made, int devices, const int* list) {
  return guarded(THINWIRE_NATIVE(CommInitAll, made, devices, list), [&](auto& native) {
    const ncclResult_t result = native();
    if (!Inside::now() && is_taken(result)) opened_all(made, devices, blocks(nullptr, true));
    return result;
  });
}

// A rank that takes part in none of the parts counts the split, and gets no handle.
THINWIRE_EXPORTED ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key,
                                             ncclComm_t* made, ncclConfig_t* config) {
  return guarded(THINWIRE_NATIVE(CommSplit, parent, color, key, made, config), [&](auto& native) {
    if (!Inside::now() && is_unfinished(parent)) return ncclInvalidArgument;
    const ncclResult_t result = native();
    if (Inside::now() || !is_taken(result)) return result;
    return tell_after(result, part(made, next_split(parent, color), parent, config));
  });
}

// Ranks that are lost do not call it, and may be dead.
THINWIRE_EXPORTED ncclResult_t ncclCommShrink(ncclComm_t parent, int* lost, int count,
                                              ncclComm_t* made, ncclConfig_t* config, int flags) {
  return guarded(THINWIRE_NATIVE(CommShrink, parent, lost, count, made, config, flags),
                 [&](auto& native) {
                   if (Inside::now()) return native();
                   if ((flags & NCCL_SHRINK_ABORT) != 0) stop_calls(parent);
                   if (is_unfinished(parent)) return ncclInvalidArgument;
                   const ncclResult_t result = native();
                   if (!is_taken(result)) return result;
                   SplitOff from = next_shrink(parent, {lost, lost + count});
                   return tell_after(result, part(made, std::move(from), parent, config));
                 });
}

// For ranks that are to be added: they find the parent's by it.
THINWIRE_EXPORTED ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* id) {
  return guarded(THINWIRE_NATIVE(CommGetUniqueId, comm, id), [&](auto& native) {
    const ncclResult_t result = native();
    const bool ours = !Inside::now() && result == ncclSuccess && settings().could_compress;
    if (ours) stamp_growth(comm, *id);
    return result;
  });
}

// The parent's ranks know each other; those that are new have an id.
THINWIRE_EXPORTED ncclResult_t ncclCommGrow(ncclComm_t parent, int ranks, const ncclUniqueId* id,
                                            int rank, ncclComm_t* made, ncclConfig_t* config) {
  return guarded(THINWIRE_NATIVE(CommGrow, parent, ranks, id, rank, made, config),
                 [&](auto& native) {
                   if (!Inside::now() && parent != nullptr && is_unfinished(parent))
                     return ncclInvalidArgument;
                   const ncclResult_t result = native();
                   if (Inside::now() || !is_taken(result)) return result;
                   if (parent == nullptr)
                     return tell_after(result, by_id(made, *id, rank, ranks, config));
                   return tell_after(result, part(made, next_growth(parent), parent, config));
                 });
}
