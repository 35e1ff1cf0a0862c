// Sums and the like over blocks that lie one after the other, in the order of ranks.
#pragma once

#include <cstddef>

#include "native/nccl_abi.h"

namespace fake_nccl {

std::size_t element_bytes(ncclDataType_t type);
bool can_reduce(ncclDataType_t type, int op);

// Into the first of `blocks` blocks of `count` elements.
void reduce_parts(std::byte* parts, int blocks, std::size_t count, ncclDataType_t type, int op);

}  // namespace fake_nccl
