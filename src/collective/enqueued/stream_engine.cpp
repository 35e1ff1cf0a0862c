#include "collective/enqueued/stream_engine.h"

#include "codec/job.h"
#include "collective/gpu/kernels.h"
#include "device/enqueue.h"

namespace thinwire::collective {

Result<WorkMemory> StreamEngine::memory_for(const Shape& shape) const {
  const auto workspace = message::workspace_bytes(coder(), array(shape));
  if (!workspace.ok()) return workspace.status();
  return WorkMemory{.workspace_bytes = *workspace,
                    .spare_bytes = adds_as_it_decodes() ? 0 : array(shape).raw_bytes()};
}

Status StreamEngine::begin(MutableByteView workspace, std::byte* spare) {
  workspace_ = workspace;
  spare_ = spare;
  return clear(workspace.data(), workspace.size());
}

Status StreamEngine::clear(std::byte* at, std::uint64_t bytes) {
  return device::enqueue_clear(at, bytes, stream_);
}

Status StreamEngine::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  return device::enqueue_copy(to, from, bytes, stream_);
}

Status StreamEngine::combine(std::byte* to, const std::byte* from, const Shape& shape) {
  return enqueue_combine(settings_->reduction, settings_->dtype, shape.count(), to, from, stream_);
}

Status StreamEngine::encode(const std::byte* from, const Shape& shape, MutableByteView slot,
                            device::Outcome* outcome) {
  // What is declined gets no header: an earlier frame must not pass for this one.
  if (Status status = clear(slot.data(), sizeof(frame::Mark)); !status.ok()) return status;
  return encode_only(from, shape, slot, outcome);
}

Status StreamEngine::encode_only(const std::byte* from, const Shape& shape, MutableByteView slot,
                                 device::Outcome* outcome, const std::uint64_t* given,
                                 const slot::ToSeal* sealed) {
  message::Lent memory = lent(outcome);
  memory.given = given;
  memory.seal = sealed;
  return message::enqueue_encode(coder(), array(shape), from, slot, options(), memory);
}

bool StreamEngine::seals() const {
  const codec::Codec* const codec = settings_->spec.codec;
  return codec != nullptr && codec->device != nullptr && codec->device->seals;
}

Status StreamEngine::decode_only(ByteView frame, const Shape& shape, std::byte* to,
                                 device::Outcome* outcome) {
  const codec::Chunk piece = array(shape);
  return message::enqueue_decode(coder(), piece, frame, {to, piece.raw_bytes()}, {}, options(),
                                 lent(outcome));
}

Status StreamEngine::decode_into(ByteView frame, const Shape& shape, std::byte* to,
                                 const codec::Accumulate& accumulate, device::Outcome* outcome) {
  const codec::Chunk piece = array(shape);
  const Status decoded = message::enqueue_decode(coder(), piece, frame, {to, piece.raw_bytes()},
                                                 accumulate, options(), lent(outcome));
  if (!decoded.ok()) return decoded;
  return enqueue_void(outcome, piece.dtype, shape.count(), to, stream_);
}

Status StreamEngine::decode(ByteView frame, const Shape& shape, std::byte* to,
                            device::Outcome* outcome) {
  return decode_into(frame, shape, to, {}, outcome);
}

Status StreamEngine::reduce(ByteView frame, const Shape& shape, std::byte* to,
                            device::Outcome* outcome) {
  if (adds_as_it_decodes()) return decode_into(frame, shape, to, {.adds = true}, outcome);
  const Status decoded = decode_into(frame, shape, spare_, {}, outcome);
  return decoded.ok() ? combine(to, spare_, shape) : decoded;
}

}  // namespace thinwire::collective
