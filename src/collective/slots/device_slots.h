// Steps of slots on CUDA streams: kernels, and the codecs' own.
#pragma once

#include "collective/enqueued/stream_engine.h"
#include "collective/slots/run.h"
#include "collective/slots/work.h"

namespace thinwire::collective {

// The stream's device is the thread's current one.
class DeviceSlots : public SlotWork {
 public:
  // `settings` must outlive it.
  DeviceSlots(const EngineSettings& settings, device::StreamHandle stream)
      : engine_(settings, stream, StreamEngine::Integers::kDeclined),
        dtype_(settings.dtype),
        stream_(stream) {
    engine_.stay_in_context();
  }

  Status begin(MutableByteView workspace, std::span<device::Outcome> outcomes,
               bool clears) override;
  bool seals() const override;
  Status tell(const RangeStep& step) override;
  Status resolve(const std::byte* blocks, int ranks, BoundRecord& record) override;
  Status encode(const std::byte* from, const Shape& shape, MutableByteView frame,
                device::Outcome* outcome, const BoundRecord* bound, const ToSeal* sealed) override;
  Status seal(std::span<const SealStep> all, std::span<const device::Outcome> before) override;
  Status open(const SlotPlace& place, const Shape& shape, std::byte* to) override;
  Status finish(std::span<const FinishStep> all, const RunEnd* end) override;
  Status sum(const SumStep& step, std::span<const FinishStep> slots, const RunEnd* end) override;
  Status copy(std::byte* to, const std::byte* from, std::uint64_t bytes) override {
    return engine_.copy(to, from, bytes);
  }
  Status report(const RunEnd& end) override;

 private:
  StreamEngine engine_;
  Dtype dtype_;
  device::StreamHandle stream_;
  unsigned* arrived_ = nullptr;  // the word behind the outcomes
};

// What a block's coding needs there.
Result<WorkMemory> device_needs(const EngineSettings& settings, const Shape& shape);

// Enqueues a stage of a run on its stream, whose device is that of the lent memory.
Status enqueue_stage(const SlotRun& run, int stage);

}  // namespace thinwire::collective
