// Sums and the like over blocks that lie one after the other, in the order of ranks, and reductions
// of the program's own: sums of values that each rank multiplies by a factor first.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "native/nccl_abi.h"

namespace fake_nccl {

std::size_t element_bytes(ncclDataType_t type);
bool can_reduce(ncclDataType_t type, int op);

// Into the first of `blocks` blocks of `count` elements.
void reduce_parts(std::byte* parts, int blocks, std::size_t count, ncclDataType_t type, int op);

struct OwnSum {
  ncclDataType_t type = ncclFloat32;
  std::vector<std::byte> scalar;    // of the host
  const void* in_memory = nullptr;  // in its place: read when the stream comes by
};

using OwnSumRef = std::shared_ptr<const OwnSum>;
using OwnSums = std::map<int, OwnSumRef>;

// The values times the factor, each rounded to its type as NCCL does.
void multiply(const OwnSum& by, const std::byte* values, std::size_t count, std::byte* to);

inline bool is_own(ncclRedOp_t op) { return op >= ncclNumOps; }

}  // namespace fake_nccl
