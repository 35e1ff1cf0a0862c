// Group semantics: between the outermost ncclGroupStart and ncclGroupEnd of a thread nothing is put
// on a stream, and then everything is.
#pragma once

#include <functional>

#include "comm.h"

namespace fake_nccl {

bool in_group();

// Messages of one group on one communicator progress together; calls of collectives run one after
// the other.
enum class Kind { kCollective, kMessage };

// Enqueues at once outside a group.
ncclResult_t submit(Kind kind, ncclComm_t comm, cudaStream_t stream, Body before,
                    std::function<void()> after = {});

// Making communicators waits for other ranks, those of the same group among them; so do other calls
// of the host's. At once outside a group, if `of` blocks; else `of` is ncclInProgress.
ncclResult_t submit_making(ncclComm_t of, std::function<ncclResult_t()> make);

// Returns the error; inside a group the group's end will fail too.
ncclResult_t refuse(ncclResult_t error);

}  // namespace fake_nccl
