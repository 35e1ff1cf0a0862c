// Work on the values of one piece: coding, adding, copying, wherever they lie.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "codec/spec.h"
#include "collective/reduce.h"
#include "collective/reference.h"
#include "message/automatic.h"
#include "message/message.h"
#include "plan/plan.h"

namespace thinwire::collective {

// A piece as it travels. Values that are not coded travel as they are, told by their length; frames
// of raw values are longer, all others shorter. Nothing at all stands for data that was lost.
struct Packet {
  enum class Kind : std::uint8_t { kFrame, kValues, kLost };
  Kind kind = Kind::kLost;
  const std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  plan::Reason why_raw = plan::Reason::kCompress;  // where it holds values as they are
  bool is_delta = false;                           // of those that this rank encoded
};

// Settings that hold for all pieces of one call.
struct EngineSettings {
  codec::Spec spec;  // kOff: nothing is coded
  Dtype dtype = Dtype::kBytes;
  Reduction reduction = Reduction::kSum;
  message::AutomaticTerms terms{};  // under "auto"
  frame::Mark mark = frame::file_mark();
  bool on_device = false;                    // the user's values lie in GPU memory
  const CallReference* reference = nullptr;  // none in GPU memory

  // Values of one piece.
  codec::Chunk array(const Shape& shape) const { return {.dtype = dtype, .shape = shape}; }
};

// Synchronous: complete on return. Values in GPU memory are coded and combined there, on the
// library's own streams.
class Engine {
 public:
  // `spare`: where the values lie, memory for those of one piece; nullptr if needs_spare() says
  // no.
  Engine(const EngineSettings& settings, std::byte* spare) : settings_(&settings), spare_(spare) {}

  // Whether reductions decode beside the values (a sum is made while decoding), or differences are
  // taken.
  bool needs_spare() const {
    if (settings_->reference != nullptr) return true;
    return settings_->reduction != Reduction::kSum &&
           settings_->spec.kind != codec::Spec::Kind::kOff;
  }

  const CallReference* reference() const { return settings_->reference; }

  std::uint64_t bytes_of(std::uint64_t values) const {
    return values * dtype_size(settings_->dtype);
  }
  std::uint64_t bytes(const Shape& shape) const { return bytes_of(shape.count()); }

  // Most bytes of a packet of such a piece.
  Result<std::uint64_t> most_bytes(const Shape& shape) const;

  // On the host what does not shrink stays where it is; from a device everything comes into `slot`.
  // Against `reference`, if that has values and makes less of it.
  Result<Packet> encode(const std::byte* values, const Shape& shape, MutableByteView slot,
                        const message::Reference& reference = {});

  // The same without coding: for values that are to stay raw, for a reason.
  Result<Packet> pass(const std::byte* values, const Shape& shape, MutableByteView slot,
                      plan::Reason why);

  // kDamaged if a frame is not one of this piece.
  Status decode(const Packet& packet, const Shape& shape, std::byte* to,
                const message::Reference& reference = {});
  Status reduce(const Packet& packet, const Shape& shape, std::byte* to);

  Status copy(std::byte* to, const std::byte* from, const Shape& shape);
  Status combine(std::byte* to, const std::byte* from, const Shape& shape);

  // The exact sum of arrays, each `stride` bytes after the one before, comes into the first of
  // them; of other reductions the one in the order of the arrays.
  Status add_exactly(std::byte* first, std::uint64_t stride, int arrays, const Shape& shape);

 private:
  codec::Chunk array(const Shape& shape) const { return settings_->array(shape); }
  Status check(const Packet& packet, const Shape& shape) const;
  Result<std::uint64_t> code(const std::byte* values, const Shape& shape, MutableByteView slot);
  Result<Packet> encode_delta(const std::byte* values, const Shape& shape, MutableByteView slot,
                              const message::Reference& reference);

  const EngineSettings* settings_;
  std::byte* spare_;
};

}  // namespace thinwire::collective
