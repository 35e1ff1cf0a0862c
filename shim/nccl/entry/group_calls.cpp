// The entries by which programs open and end groups.
#include "entry/ending.h"
#include "entry/group.h"
#include "entry/making.h"
#include "entry/submit.h"
#include "entry/windows.h"
#include "native/call_native.h"

using namespace thinwire::nccl;

THINWIRE_EXPORTED ncclResult_t ncclGroupStart() {
  const ncclResult_t result = THINWIRE_PASS(GroupStart);
  if (Inside::now() || result != ncclSuccess || allowed(open_group)) return result;
  THINWIRE_PASS(GroupEnd);
  return ncclSystemError;
}

THINWIRE_EXPORTED ncclResult_t ncclGroupEnd() {
  if (Inside::now() || open_groups() != 1) {
    const ncclResult_t result = THINWIRE_PASS(GroupEnd);
    if (!Inside::now() && open_groups() > 1) close_inner_group();
    return result;
  }
  submit_undecided();
  ncclResult_t made = ncclSuccess;
  const ncclResult_t result = end_group(&made);
  allowed([&] {
    tell_made_in_group(made);
    tell_registered_in_group(made);
    let_go_after_group(result);
  });
  return result;
}

// Ends the group as ncclGroupEnd() does. Communicators that were made in it are made.
THINWIRE_EXPORTED ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* info) {
  if (Inside::now() || open_groups() != 1) {
    const ncclResult_t result = THINWIRE_PASS(GroupSimulateEnd, info);
    if (!Inside::now() && open_groups() > 1) close_inner_group();
    return result;
  }
  const ncclResult_t result = simulate_group(info);
  allowed([&] {
    tell_made_in_group(result);
    tell_registered_in_group(result);
  });
  return result;
}
