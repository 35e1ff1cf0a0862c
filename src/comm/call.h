// One collective as its caller describes it.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "codec/spec.h"
#include "plan/operation.h"

namespace thinwire::comm {

// Counts and displacements are in values; lists have an entry a rank, nullptr if there is none.
struct Call {
  plan::Operation operation = plan::Operation::kBcast;
  Dtype dtype = Dtype::kBytes;
  plan::Reduction reduction = plan::Reduction::kSum;
  int root = 0;
  plan::Algorithm algorithm = plan::Algorithm::kPlanned;
  plan::Coding coding = plan::Coding::kPlanned;
  bool in_place = false;
  bool root_decodes = false;  // Bcast: the root's values become what the others get
  bool verify = false;        // compare with the result without compression
  bool varied = false;        // Gather, Scatter: the lists are known to the root alone
  bool unable = false;        // this rank cannot take part, and its buffers are not to be touched
  bool as_agreed = false;     // no costs are learned for it
  bool forced = false;        // compressed whatever it costs
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::uint64_t count = 0;
  const std::uint64_t* send_counts = nullptr;
  const std::uint64_t* send_displacements = nullptr;
  const std::uint64_t* receive_counts = nullptr;
  const std::uint64_t* receive_displacements = nullptr;
  codec::Spec spec;
};

// kInvalidArgument for what no rank could run, kUnsupported for reductions of bytes.
Status check(const Call& call, int size);

// Values that rank `rank` contributes, gets or sends, by the lists if there are some.
inline std::uint64_t count_of(const std::uint64_t* counts, std::uint64_t count, int rank) {
  return counts == nullptr ? count : counts[rank];
}
inline std::uint64_t place_of(const std::uint64_t* displacements, std::uint64_t count, int rank) {
  return displacements == nullptr ? static_cast<std::uint64_t>(rank) * count : displacements[rank];
}

}  // namespace thinwire::comm
