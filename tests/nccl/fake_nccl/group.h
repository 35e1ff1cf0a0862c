// How NCCL's functions are exported, and group semantics: between the outermost ncclGroupStart and
// ncclGroupEnd of a thread nothing is put on a stream, and then everything is.
#pragma once

#include <functional>

#include "comm.h"

// The `p` name, and a weak one that tools may take.
#define FAKE_NCCL(name, ...)                                                               \
  extern "C" __attribute__((visibility("default"))) ncclResult_t pnccl##name(__VA_ARGS__); \
  extern "C" __attribute__((visibility("default"), weak,                                   \
                            alias("pnccl" #name))) ncclResult_t nccl##name(__VA_ARGS__);   \
  ncclResult_t pnccl##name(__VA_ARGS__)

extern "C" ncclResult_t pncclGroupStart();
extern "C" ncclResult_t pncclGroupEnd();

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
