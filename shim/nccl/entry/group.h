// The program's groups on this thread: what is kept of them until their end.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/count.h"
#include "run/enqueue.h"
#include "state/communicators.h"

namespace thinwire::nccl {

// Whether this thread has opened one, and how many, one in the other.
bool in_group();
int open_groups();

void open_group();
void close_inner_group();
// The outermost ends and is carried out, or is left undone and estimated by NCCL. `made`: what NCCL
// has said of communicators that are made in it.
ncclResult_t end_group(ncclResult_t* made);
ncclResult_t simulate_group(ncclSimInfo_t* info);

// Whether a call of this group on that communicator is coded against earlier results.
bool group_refers(const Compressor& compressor);

// A call's place among those of the group, in the program's order.
std::uint64_t next_place();
// One that is decided about at the group's end, after its collectives.
void keep_undecided(const Call& call);
std::vector<Call> take_undecided();

// A call of the group that is coded, at its end.
void keep_coded(const Planned& planned);
// One that goes raw now, and has something beside it.
void keep_watched(const Planned& planned);
// One that stays raw, for its place among those that are coded.
void keep_raw(const Call& call, Communicator& communicator);
// The program ends a reduction of its own, that a call which is kept may be of: after the group.
bool kept_end_of(ncclRedOp_t op, ncclComm_t comm);
// The program finalizes a communicator of which calls are kept, after which it comes. False: there
// are none.
bool keep_end(ncclComm_t comm);
// Whether it has, so that NCCL would refuse further calls.
bool ends_in_group(ncclComm_t comm);
// A call of the group has been numbered, and is to be counted, if the group is carried out.
void keep_number(const CallNumber& call_number);
void keep_count(const Count& count);
// A call of the group has failed: nothing of it is coded.
ncclResult_t spoil_group(ncclResult_t failure);

// The group that this thread has open, and what is kept of it.

struct Group {
  std::uint64_t places = 0;
  ncclResult_t failure = ncclSuccess;
  std::vector<Call> undecided;
  std::vector<Planned> coded;
  std::vector<Planned> watched;
  std::vector<KeptRaw> raw;
  std::vector<CallNumber> call_number;
  std::vector<Count> counts;
  std::vector<ncclComm_t> ends;   // which the program finalizes
  std::vector<Grouped> reserved;  // for one communicator at a time

  void clear() {
    coded.clear();
    watched.clear();
    raw.clear();
    call_number.clear();
    counts.clear();
    undecided.clear();
    ends.clear();
    places = 0;
    failure = ncclSuccess;
  }
};

Group& kept_group();
// Ends the group, and returns it.
Group& close_group();

}  // namespace thinwire::nccl
