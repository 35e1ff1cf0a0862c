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

  StreamWork& steps() override { return work_; }
  Status begin(MutableByteView workspace, std::span<device::Outcome> outcomes, bool first) override;
  Status seal(const SlotPlace& place, const std::byte* values,
              std::span<const device::Outcome> before) override;
  Status open(const SlotPlace& place, const Shape& shape, std::byte* to) override;
  Status finish(const SlotPlace& place, const Shape& shape, std::byte* to,
                const std::byte* own) override;
  Status sum(const Operands& arrays, std::uint64_t count, double scale, std::byte* to) override;
  Status report(std::span<const device::Outcome> outcomes, device::Outcome* to,
                device::Outcome* done) override;

 private:
  HostWork work_;
  Dtype dtype_;
};

// What a block's coding needs there.
Result<WorkMemory> host_needs(const EngineSettings& settings, const Shape& shape);

}  // namespace thinwire::collective
