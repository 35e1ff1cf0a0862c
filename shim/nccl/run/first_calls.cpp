#include "run/first_calls.h"

#include <bit>

#include "native/cuda.h"
#include "native/refused.h"
#include "state/reason.h"

namespace thinwire::nccl {

// CUDA is not asked while a stream is captured.
FirstCalls::FirstCalls(std::span<const Planned> calls) {
  allowed([&] {
    for (const Planned& each : calls) {
      Kind* const of = each.decision.of[0];
      if (of == nullptr || each.call.is_captured() || !of->is_first_coded()) continue;
      first_.push_back({&each, free_bytes_of_gpu(each.compressor->device())});
    }
  });
}

void FirstCalls::note_end() const {
  if (first_.empty()) return;
  allowed([&] {
    for (const auto& [planned, before] : first_) {
      const std::uint64_t after = free_bytes_of_gpu(planned->compressor->device());
      if (before == kNotKnown || after == kNotKnown) continue;
      const Call& call = planned->call;
      planned->communicator->free_memory.add(
          {.operation = call.operation,
           .dtype = planned->decision.dtype,
           .least_bytes = std::bit_floor(call.elements * element_bytes(call.type)),
           .before = before,
           .after = after});
    }
  });
}

}  // namespace thinwire::nccl
