// Steps of slots on CUDA streams: kernels, and the codecs' own.
#pragma once

#include <memory>

#include "collective/engine.h"
#include "collective/slots/run.h"
#include "collective/slots/work.h"
#include "device/stream.h"
#include "message/enqueue.h"

namespace thinwire::collective {

// The stream's device is the thread's current one.
class DeviceSlots : public SlotWork {
 public:
  // The plan must outlive it.
  DeviceSlots(const SlotPlan& plan, device::StreamHandle stream)
      : settings_(&plan.settings()), workspace_stride_(plan.workspace_stride()), stream_(stream) {}

  Status begin(MutableByteView workspace, std::span<device::Outcome> outcomes,
               std::uint64_t cleared) override;
  bool seals() const override;
  Status tell(const RangeStep& step) override;
  Status resolve(const std::byte* blocks, int ranks, BoundRecord& record) override;
  Status differ(const DifferStep& step) override;
  Status match(const RestoreStep& step) override;
  Status restore(const RestoreStep& step) override;
  Status write_factor(std::byte* to, const SlotFactor& factor) override;
  Status encode(const std::byte* from, const Shape& shape, MutableByteView frame,
                device::Outcome* outcome, const BoundRecord* bound, const ToSeal* sealed) override;
  Status encode_blocks(std::span<const SealStep> blocks, const Shape& shape,
                       std::span<const device::Outcome> before) override;
  Status seal(std::span<const SealStep> all, std::span<const device::Outcome> before) override;
  Status open(const SlotPlace& place, const Shape& shape, std::byte* to) override;
  Status open_blocks(std::span<const FinishStep> blocks) override;
  Status finish(std::span<const FinishStep> all, const RunEnd* end) override;
  Status sum(const SumStep& step, std::span<const FinishStep> slots, const RunEnd* end) override;
  Status clear(std::byte* at, std::uint64_t bytes) override;
  Status copy(std::byte* to, const std::byte* from, std::uint64_t bytes) override;
  Status copy_rows(const RowsStep& step) override;
  Status report(const RunEnd& end) override;

 private:
  message::Coder coder() const { return {settings_->spec.codec, settings_->spec.parameter}; }
  message::EncodeOptions options() const { return {.mark = settings_->mark, .stream = stream_}; }
  message::Lent lent(device::Outcome* outcome, const std::uint64_t* given = nullptr,
                     const ToSeal* sealed = nullptr) const {
    return {.workspace = workspace_.data(),
            .workspace_bytes = workspace_.size(),
            .outcome = outcome,
            .given = given,
            .seal = sealed,
            .in_context = true};
  }

  const EngineSettings* settings_;
  std::uint64_t workspace_stride_;
  device::StreamHandle stream_;
  MutableByteView workspace_;
  unsigned* arrived_ = nullptr;  // the word after the outcomes
};

// The workspace that a block's coding needs there; kUnsupported if it cannot be coded.
Result<std::uint64_t> device_needs(const EngineSettings& settings, const Shape& shape);

// Enqueues a stage of a run on its stream, whose device is that of the lent memory.
Status enqueue_stage(const SlotRun& run, int stage, OnDevice& end);

}  // namespace thinwire::collective
