// How NCCL's functions are exported: the `p` name, and a weak one that tools may take.
#pragma once

#include "native/nccl_abi.h"

#define FAKE_NCCL(name, ...)                                                               \
  extern "C" __attribute__((visibility("default"))) ncclResult_t pnccl##name(__VA_ARGS__); \
  extern "C" __attribute__((visibility("default"), weak,                                   \
                            alias("pnccl" #name))) ncclResult_t nccl##name(__VA_ARGS__);   \
  ncclResult_t pnccl##name(__VA_ARGS__)

extern "C" ncclResult_t pncclGroupStart();
extern "C" ncclResult_t pncclGroupEnd();
