// The group that this thread has open, and what is kept of it.
#pragma once

#include <cstdint>
#include <vector>

#include "entry/group.h"

namespace thinwire::nccl {

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
