// Reductions of the program's own: sums of values that each rank multiplies by a factor first.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "native/nccl_abi.h"

namespace fake_nccl {

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
