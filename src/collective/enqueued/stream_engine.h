// Local steps on a GPU, in stream order.
#pragma once

#include "collective/engine.h"
#include "collective/enqueued/stream_work.h"
#include "device/stream.h"
#include "message/enqueue.h"

namespace thinwire::collective {

// The workspace is the codec's; reductions that no codec does as it decodes need a spare piece. The
// stream's device is the thread's current one.
class StreamEngine : public StreamWork {
 public:
  // `settings` must outlive it; its spec names a codec, or is "off".
  enum class Integers { kCoded, kDeclined };  // kDeclined: as the setting says, by lossy codecs
  StreamEngine(const EngineSettings& settings, device::StreamHandle stream,
               Integers integers = Integers::kCoded)
      : settings_(&settings), stream_(stream), integers_(integers) {}

  // As begin(), of a workspace that was lent before.
  void lend(MutableByteView workspace) { workspace_ = workspace; }

  // Nothing asks where memory lies from now on: it is of the current device, or reached by it.
  void stay_in_context() { in_context_ = true; }

  // As encode(); what is declined leaves in the slot what was there. `given` and `sealed`, which
  // the codec has to know of (seals()): see codec::EncodeJob.
  Status encode_only(const std::byte* from, const Shape& shape, MutableByteView slot,
                     device::Outcome* outcome, const std::uint64_t* given = nullptr,
                     const slot::ToSeal* sealed = nullptr);
  bool seals() const;

  // As decode(), but where the outcome is an error the values are undefined.
  Status decode_only(ByteView frame, const Shape& shape, std::byte* to, device::Outcome* outcome);

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

 private:
  codec::Chunk array(const Shape& shape) const { return settings_->array(shape); }
  message::Coder coder() const { return {settings_->spec.codec, settings_->spec.parameter}; }
  message::EncodeOptions options() const {
    message::EncodeOptions options{.mark = settings_->mark, .stream = stream_};
    options.declines_integers = options.declines_integers && integers_ == Integers::kDeclined;
    return options;
  }
  bool adds_as_it_decodes() const { return settings_->reduction == Reduction::kSum; }

  message::Lent lent(device::Outcome* outcome) const {
    return {.workspace = workspace_.data(),
            .workspace_bytes = workspace_.size(),
            .outcome = outcome,
            .given = nullptr,
            .seal = nullptr,
            .in_context = in_context_};
  }
  Status decode_into(ByteView frame, const Shape& shape, std::byte* to,
                     const codec::Accumulate& accumulate, device::Outcome* outcome);

  const EngineSettings* settings_;
  device::StreamHandle stream_;
  Integers integers_;
  MutableByteView workspace_;
  std::byte* spare_ = nullptr;
  bool in_context_ = false;
};

}  // namespace thinwire::collective
