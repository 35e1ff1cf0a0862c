// Reductions of the program's own: sums of values that each rank multiplies by a factor first
// (ncclRedOpCreatePreMulSum).
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "native/nccl_abi.h"

namespace thinwire::nccl {

// The factor by which a rank's values are multiplied.
struct Factor {
  double number = 1;
  const void* at = nullptr;  // in its place: a value that the stream reads
};

// The reductions of one communicator. Threads may make and destroy them while others call.
class OwnSums {
 public:
  // NCCL has made it.
  void add(ncclRedOp_t op, const void* scalar, ncclDataType_t type, ncclScalarResidence_t where);
  void remove(ncclRedOp_t op);
  // Nothing if it is none of these, or one of another type.
  std::optional<Factor> find(ncclRedOp_t op, ncclDataType_t type) const;
  // Whether NCCL takes it for that type.
  bool has(ncclRedOp_t op, ncclDataType_t type) const;

 private:
  struct Sum {
    ncclDataType_t type;
    std::optional<Factor> factor;  // none if the type has no codec
  };
  mutable std::mutex mutex_;
  std::map<int, Sum> sums_;
};

}  // namespace thinwire::nccl
