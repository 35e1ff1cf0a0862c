// What the program asked of NCCL, by communicator and operation.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "abi/nccl_abi.h"
#include "process/reason.h"

namespace thinwire::nccl {

enum Operation {
  kAllReduce,
  kReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kSend,
  kRecv,
  kOperations
};
const char* operation_name(int operation);

// Of one operation on one communicator.
struct Counters {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> bytes{0};  // that this rank gives the others, itself among them
  std::array<std::atomic<std::uint64_t>, kReasons> raw{};  // calls, by why they went raw
};

struct Communicator {
  int ranks = 0;  // 0: NCCL did not say
  int rank = 0;
  std::array<Counters, kOperations> of{};
};

// What is counted for a communicator: made when it is first seen, whoever made the communicator.
Communicator& counted(ncclComm_t comm);

// The communicator ends: a later one may have its handle. Its figures stay for the report.
void forget(ncclComm_t comm);

// All there were, in the order in which they were seen. Nobody may be counting any more.
const std::vector<Communicator*>& all_communicators();

}  // namespace thinwire::nccl
