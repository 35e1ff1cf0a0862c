// Costs of codecs, as the ranks have agreed: one entry for each spec and dtype, which stays.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "comm/call.h"
#include "costs/costs.h"
#include "plan/plan.h"
#include "transport/transport.h"

namespace thinwire::comm {

// A call whose cost is to be agreed on later, and where its buffers lay: they may be gone by then.
struct Wanted {
  Call call;
  int device = -1;  // -1: host memory
};

// Any threads at once.
class Costs {
 public:
  std::optional<plan::CodecCost> of(const Call& call) const;
  void keep(const Call& call, const plan::CodecCost& cost);

  // Once for each spec and dtype.
  void want(const Call& call, int device);
  std::vector<Wanted> take_wanted();

  // Takes what another communicator of the same ranks has agreed on and this one has not.
  void adopt(const Costs& other);

 private:
  struct Known {
    codec::Spec spec;
    Dtype dtype;
    plan::CodecCost cost;
  };
  const Known* find(const codec::Spec& spec, Dtype dtype) const;

  mutable std::mutex mutex_;  // guards all below
  std::vector<Known> known_;
  std::vector<Wanted> wanted_;
};

// A codec's cost on the slowest rank.

// Measures a codec's cost on this rank, in host memory or that device's, of one piece in the shape
// that the spec gives the call's array; all zeros if it cannot be measured, which no plan takes for
// a win. Measures once a process: later calls of the kind are told the same. Costs that `known`
// has, which may be null, are not measured.
plan::CodecCost measure_cost(const Call& call, int size, int device, const costs::Table* known);

// Collective: the lowest speeds and the lowest ratio of all ranks.
Status agree_on_slowest(transport::Transport& transport, plan::CodecCost& cost);

}  // namespace thinwire::comm
