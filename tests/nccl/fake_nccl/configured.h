// How a program sees that a configuration has come to this NCCL: by an extension of its list, whose
// value counts the calls.
#pragma once

#include <atomic>

#include "native/nccl_abi.h"

namespace fake_nccl {

constexpr int kVendor = 0x7417;
struct Extension {
  const Extension* next;
  int vendor, option;
  void* value;  // of this NCCL's: std::atomic<int>
};

}  // namespace fake_nccl

extern "C" {
ncclResult_t ncclMoveByLink();
ncclResult_t ncclMoveByName();
}
