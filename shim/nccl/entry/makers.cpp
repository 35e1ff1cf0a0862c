// The calls that make communicators. Each is NCCL's own; after it has succeeded, the helper is
// told.
#include "entry/ending.h"
#include "entry/group.h"
#include "entry/making.h"
#include "entry/unfinished.h"
#include "entry/windows.h"
#include "members/membership.h"
#include "native/call_native.h"
#include "run/compressor.h"
#include "state/communicators.h"
#include "state/settings.h"

// The calls after which a communicator's handle has another meaning, or none.

using namespace thinwire::nccl;

namespace {

// One that does not block, which NCCL will not end now.
bool is_in_progress(ncclComm_t comm) {
  if (!settings().could_compress) return false;
  const Communicator* const of = begun(comm);
  if (of == nullptr || of->blocks) return false;
  ncclResult_t state = ncclSuccess;
  return THINWIRE_PASS(CommGetAsyncError, comm, &state) == ncclSuccess && state == ncclInProgress;
}

void set_suspended(ncclComm_t comm, bool suspended) {
  if (Communicator* const of = begun(comm)) of->suspended = suspended;
}

}  // namespace

THINWIRE_EXPORTED ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(CommDestroy, comm), [&](auto& native) {
    if (Inside::now()) return native();
    if (is_unfinished(comm)) return ncclInvalidArgument;
    // Known beforehand: NCCL may give the handle to another thread's communicator before this call
    // is over.
    Communicator* const ended = begun(comm);
    const bool goes_on = is_in_progress(comm);
    if (goes_on) {
      const ncclResult_t refused = native();
      if (refused != ncclSuccess) return refused;
    } else {
      forget_parts_of(comm);
      forget(comm, ended);
      native();
    }
    forget(comm, ended);
    if (ended == nullptr) return native.once();
    end_agreed(*ended, !goes_on, true);
    if (!goes_on && in_group()) {
      ends_with_group(*ended);
    } else if (!goes_on) {
      let_go(*ended);
    }
    return native.once();
  });
}

// NCCL refuses calls from here on. In a group those before it come first: as they are kept until
// the group's end, so is this.
THINWIRE_EXPORTED ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(CommFinalize, comm), [&](auto& native) {
    if (Inside::now()) return native();
    if (is_unfinished(comm)) return ncclInvalidArgument;
    if (in_group() && ends_in_group(comm)) return spoil_group(ncclInvalidArgument);
    if (in_group() && keep_end(comm)) return ncclSuccess;
    const ncclResult_t result = native();
    if (is_taken(result) && !in_group() && settings().could_compress) note_finalized(comm);
    return result;
  });
}

THINWIRE_EXPORTED ncclResult_t ncclCommRevoke(ncclComm_t comm, int flags) {
  return guarded(THINWIRE_NATIVE(CommRevoke, comm, flags), [&](auto& native) {
    if (Inside::now()) return native();
    stop_calls(comm);
    if (Communicator* const found = begun(comm)) found->revoked = true;
    return native();
  });
}

// Nothing is numbered until it is resumed: NCCL refuses all calls. What is under way NCCL waits
// for.
THINWIRE_EXPORTED ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags) {
  return guarded(THINWIRE_NATIVE(CommSuspend, comm, flags), [&](auto& native) {
    if (Inside::now()) return native();
    if (is_unfinished(comm)) return ncclInvalidArgument;
    const ncclResult_t result = native();
    if (is_taken(result)) set_suspended(comm, true);
    return result;
  });
}

THINWIRE_EXPORTED ncclResult_t ncclCommResume(ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(CommResume, comm), [&](auto& native) {
    const ncclResult_t result = native();
    if (Inside::now()) return result;
    if (is_taken(result)) set_suspended(comm, false);
    return result;
  });
}

THINWIRE_EXPORTED ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return guarded(THINWIRE_NATIVE(CommAbort, comm), [&](auto& native) {
    if (Inside::now()) return native();
    forget_parts_of(comm);
    Communicator* const ended = begun(comm);
    forget(comm, ended);
    if (ended == nullptr) return native();
    drop_unfinished(*ended);
    // Before NCCL waits for a thread or a stream of this process that waits here.
    Compressor* const compressor = ended->compressor.load();
    if (compressor != nullptr) {
      compressor->abort();
    } else if (ended->agreed) {
      ended->agreed->abort();
    }
    native();
    if (compressor != nullptr) end_agreed(*ended, true, false);
    return native.once();
  });
}

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
    // NCCL comes first: its file of settings sets variables that tell how it makes communicators.
    const ncclResult_t result = native();
    return tell_after(result, by_id(made, id, rank, ranks, nullptr));
  });
}

THINWIRE_EXPORTED ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId id,
                                                      int rank, ncclConfig_t* config) {
  return guarded(THINWIRE_NATIVE(CommInitRankConfig, made, ranks, id, rank, config),
                 [&](auto& native) {
                   const ncclResult_t result = native();
                   return tell_after(result, by_id(made, id, rank, ranks, config));
                 });
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
    if (!Inside::now() && is_taken(result)) opened_all(made, devices, is_blocking(nullptr, true));
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

// The call that says when one that does not block is made.
THINWIRE_EXPORTED ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return guarded(THINWIRE_NATIVE(CommGetAsyncError, comm, error), [&](auto& native) {
    const bool ours = !Inside::now() && error != nullptr && settings().could_compress;
    if (ours) *error = go_on(comm);
    if (ours && *error == ncclInProgress) return ncclSuccess;
    const ncclResult_t result = native();
    if (!ours || result != ncclSuccess || *error != ncclSuccess) return result;
    tell_parts_of(comm);
    tell_registered_on(comm);
    *error = seen_ready(comm);
    return result;
  });
}
