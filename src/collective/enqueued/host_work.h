// Local steps on streams of host functions: done at once, by the CPU codecs.
#pragma once

#include "collective/engine.h"
#include "collective/enqueued/stream_work.h"
#include "message/message.h"

namespace thinwire::collective {

// All memory is host memory; every call is complete on return, and fails never: what goes wrong is
// in the outcomes. Any number may work at once with the same settings.
class HostWork : public StreamWork {
 public:
  // `settings` must outlive it; its spec names a codec.
  explicit HostWork(const EngineSettings& settings) : settings_(&settings) {}

  Result<WorkMemory> memory_for(const Shape& shape) const override;
  Status begin(MutableByteView workspace, std::byte* spare) override;
  Status clear(std::byte* at, std::uint64_t bytes) override;
  Status copy(std::byte* to, const std::byte* from, std::uint64_t bytes) override;
  Status combine(std::byte* to, const std::byte* from, const Shape& shape) override;
  Status encode(const std::byte* from, const Shape& shape, MutableByteView slot,
                device::Outcome* outcome) override;
  Status decode(ByteView frame, const Shape& shape, std::byte* to,
                device::Outcome* outcome) override;
  Status reduce(ByteView frame, const Shape& shape, std::byte* to,
                device::Outcome* outcome) override;

  // As encode(), with another parameter of the codec's.
  Status encode_with(std::uint64_t parameter, const std::byte* from, const Shape& shape,
                     MutableByteView slot, device::Outcome* outcome);

  void make_nan(std::byte* at, const Shape& shape) const;

 private:
  codec::Chunk array(const Shape& shape) const { return settings_->array(shape); }
  message::Coder coder() const { return {settings_->spec.codec, settings_->spec.parameter}; }
  Status check(const Result<message::Info>& info, const Shape& shape) const;

  const EngineSettings* settings_;
  std::byte* spare_ = nullptr;
};

}  // namespace thinwire::collective
