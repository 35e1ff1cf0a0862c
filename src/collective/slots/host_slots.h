// Steps of slots on streams of host functions: done at once, on the stream's thread. They never
// fail: what goes wrong is in the outcomes.
#pragma once

#include "collective/enqueued/host_work.h"
#include "collective/slots/work.h"

namespace thinwire::collective {

class HostSlots : public SlotWork {
 public:
  // `settings` must outlive it.
  explicit HostSlots(const EngineSettings& settings) : work_(settings), dtype_(settings.dtype) {}

  Status begin(MutableByteView workspace, std::span<device::Outcome> outcomes,
               bool clears) override;
  bool seals() const override { return false; }
  Status tell(const RangeStep& step) override;
  Status resolve(const std::byte* blocks, int ranks, BoundRecord& record) override;
  Status encode(const std::byte* from, const Shape& shape, MutableByteView frame,
                device::Outcome* outcome, const BoundRecord* bound, const ToSeal*) override {
    return bound == nullptr ? work_.encode(from, shape, frame, outcome)
                            : work_.encode_with(bound->parameter, from, shape, frame, outcome);
  }
  Status seal(std::span<const SealStep> all, std::span<const device::Outcome> before) override;
  Status open(const SlotPlace& place, const Shape& shape, std::byte* to) override;
  Status finish(std::span<const FinishStep> all, const RunEnd* end) override;
  Status sum(const SumStep& step, std::span<const FinishStep> slots, const RunEnd* end) override;
  Status copy(std::byte* to, const std::byte* from, std::uint64_t bytes) override {
    return work_.copy(to, from, bytes);
  }
  Status report(const RunEnd& end) override;

 private:
  void seal(const SealStep& step, std::span<const device::Outcome> before);
  void finish(const FinishStep& step);

  HostWork work_;
  Dtype dtype_;
};

// What a block's coding needs there.
Result<WorkMemory> host_needs(const EngineSettings& settings, const Shape& shape);

}  // namespace thinwire::collective
