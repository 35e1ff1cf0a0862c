// Steps of slots on streams of host functions: done at once, on the stream's thread. They never
// fail: what goes wrong is in the outcomes.
#pragma once

#include "collective/engine.h"
#include "collective/slots/work.h"
#include "message/message.h"

namespace thinwire::collective {

class HostSlots : public SlotWork {
 public:
  // `settings` must outlive it; its spec names a codec.
  explicit HostSlots(const EngineSettings& settings) : settings_(&settings) {}

  Status begin(MutableByteView workspace, std::span<device::Outcome> outcomes,
               std::uint64_t cleared) override;
  bool seals() const override { return false; }
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
  void seal(const SealStep& step, std::span<const device::Outcome> before);
  void finish(const FinishStep& step);
  void restore(const RestoreStep& step, std::uint64_t block) const;
  // Makes the values NaN if there is no such frame.
  device::Outcome decode(ByteView frame, const Shape& shape, std::byte* to) const;
  Status check(const Result<message::Info>& info, const Shape& shape) const;
  void make_nan(std::byte* at, const Shape& shape) const;

  const EngineSettings* settings_;
};

// The workspace that a block's coding needs there: none. kUnsupported if it cannot be coded.
Result<std::uint64_t> host_needs(const EngineSettings& settings, const Shape& shape);

}  // namespace thinwire::collective
