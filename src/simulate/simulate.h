// One collective, simulated: by one schedule, as the executor that polls would run it, or in slots,
// in stream order, beside NCCL's own function.
#pragma once

#include <array>

#include "base/status.h"
#include "collective/slots/call.h"
#include "simulate/model.h"

namespace thinwire::simulate {

// kUnsupported if there is no such schedule, or the codec does not take such values; kTooSmall if
// it has too many tasks in pieces of any size.
Result<Figures> simulate(const Call& call, const Machine& machine);

// A collective in slots.
struct StreamCall {
  collective::SlotOperation operation = collective::SlotOperation::kAllgather;
  Dtype dtype = Dtype::kF32;
  std::uint64_t count = 0;  // as SlotCall has it
  int nodes = 1;
  int per_node = 1;
  std::array<std::uint32_t, 2> capacity{512, 512};  // in 512ths of a block
  codec::Spec spec;                                 // kOff: NCCL's own

  int ranks() const { return nodes * per_node; }
  double bytes() const {
    return static_cast<double>(count) * static_cast<double>(dtype_size(dtype));
  }
};

// Stage after stage, as all ranks take them together: what they encode, what travels, what they
// decode and add. Every block fits its slot. `machine.inside` is a GPU's own here.
Result<Figures> simulate(const StreamCall& call, const Machine& machine);

// NCCL's own, by the bytes and hops of its rings and trees as nccl-tests counts them.
Figures native(const StreamCall& call, const Machine& machine);

}  // namespace thinwire::simulate
