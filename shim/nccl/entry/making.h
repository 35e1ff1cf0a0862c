// Communicators that are being made, and what the end of a group, and of their parent, means for
// them.
#pragma once

#include <string>

#include "members/membership.h"
#include "native/nccl_abi.h"

namespace thinwire::nccl {

// A communicator that NCCL makes: where it will put its handle, in a group at the group's end.
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
  bool zero_ctas = false;  // as its configuration has it
};

// Whether its calls block. NCCL's own setting stands above the program's, `otherwise` holds if
// neither says it; `config` may be null.
bool is_blocking(const ncclConfig_t* config, bool otherwise);

// Made with an id; `config` may be null.
Making by_id(ncclComm_t* made, const ncclUniqueId& id, int rank, int ranks,
             const ncclConfig_t* config);
// A part of a communicator.
Making part(ncclComm_t* made, SplitOff from, ncclComm_t parent, const ncclConfig_t* config);

// The call that makes it has returned that, which comes back: the helper is told, of what a group
// makes at the group's end.
ncclResult_t tell_after(ncclResult_t result, const Making& making);

// NCCL has made what was made of it.
void tell_parts_of(ncclComm_t parent);
// The communicator ends: parts that NCCL is still making of it are none of the program's.
void forget_parts_of(ncclComm_t parent);

// The group has ended with that result.
void tell_made_in_group(ncclResult_t result);

}  // namespace thinwire::nccl
