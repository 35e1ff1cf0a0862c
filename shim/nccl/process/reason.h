// Why a call of NCCL went raw.
#pragma once

#include <cstdint>

#include "abi/nccl_abi.h"
#include "process/settings.h"
#include "thinwire/thinwire.h"

namespace thinwire::nccl {

// Beside the core's tw_reason:
constexpr int kNotBuilt = TW_REASON_COUNT;  // it could be compressed, and this version has no way
constexpr int kReasons = kNotBuilt + 1;
const char* reason_text(int reason);

// Bytes of an element; 0 for a type that is not known here.
std::uint64_t element_bytes(ncclDataType_t type);

// For a call of `bytes`, and for one that reduces with `op`.
int reason_for(const Settings& settings, ncclDataType_t type, std::uint64_t bytes);
int reason_for_sum(const Settings& settings, ncclDataType_t type, ncclRedOp_t op,
                   std::uint64_t bytes);

}  // namespace thinwire::nccl
