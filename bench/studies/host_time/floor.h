// The least that a compressed call asks of the host: the exchanges that its plan has, as they are
// posted, and as many launches of a kernel that does nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nccl/device.h"
#include "nccl/library.h"
#include "thinwire/thinwire.h"

namespace thinwire::bench::host_time {

struct Planned {
  tw_stream_operation operation;
  std::uint64_t count;  // as in tw_stream_plan_options
  const char* codec;
  const std::vector<std::uint32_t>& nodes;
  int rank;
};

class Floor {
 public:
  enum class Part { kLaunches, kLargeLaunches, kExchanges, kAll };

  // Throws std::runtime_error if there is no such plan.
  Floor(const Planned& planned, nccl::Device& device);

  void enqueue(Part part, const nccl::Calls& calls, ncclComm_t comm) const;
  int kernels() const { return kernels_; }
  int messages() const { return messages_; }

  struct Step {
    enum class What { kBeginGroup, kEndGroup, kSend, kReceive, kAllGather, kKernels };
    What what;
    int peer = 0;  // or how many kernels
    const std::byte* at = nullptr;
    std::size_t bytes = 0;
  };

 private:
  void post(const Step& step, const nccl::Calls& calls, ncclComm_t comm) const;

  nccl::Device& device_;
  int rank_;
  std::unique_ptr<nccl::Buffer> memory_;
  std::vector<Step> steps_;
  int kernels_ = 0, messages_ = 0;
};

}  // namespace thinwire::bench::host_time
