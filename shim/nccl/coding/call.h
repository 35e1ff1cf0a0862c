// One call of the program's that moves data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "abi/nccl_abi.h"
#include "process/counters.h"
#include "process/own_sums.h"

namespace thinwire::nccl {

struct Call {
  Operation operation = kAllReduce;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t elements = 0;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  int peer = 0;  // the root, or the other rank of a message
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  std::optional<Factor> factor{};  // of a reduction of the program's own: copied, as that may end

  bool is_message() const { return operation == kSend || operation == kRecv; }
  bool has_peer() const { return is_message() || operation == kBroadcast || operation == kReduce; }
  bool reduces() const {
    return operation == kAllReduce || operation == kReduce || operation == kReduceScatter;
  }
  bool sums() const { return op == ncclSum || op == ncclAvg || factor; }
  // Whether this rank's data goes to others: `send` is read.
  bool reads(int rank) const {
    return operation != kRecv && (operation != kBroadcast || peer == rank);
  }
};

// NCCL's own function for it.
ncclResult_t pass(const Call& call);

}  // namespace thinwire::nccl
