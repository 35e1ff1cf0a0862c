#include "collective/engine.h"

#include "base/checksum.h"
#include "collective/gpu/values.h"
#include "collective/slots/sum.h"
#include "device/copy.h"
#include "message/automatic.h"
#include "message/host.h"

namespace thinwire::collective {
namespace {

// Only a frame of raw values is longer than they are.
Packet frame_of(const std::byte* data, std::uint64_t bytes, std::uint64_t raw_bytes) {
  const bool is_raw = bytes > raw_bytes;
  return {.kind = Packet::Kind::kFrame,
          .data = data,
          .bytes = bytes,
          .why_raw = is_raw ? plan::Reason::kDeclined : plan::Reason::kCompress};
}

Packet values_of(const std::byte* data, std::uint64_t bytes, plan::Reason why) {
  return {.kind = Packet::Kind::kValues, .data = data, .bytes = bytes, .why_raw = why};
}

plan::Reason why_declined(StatusCode code) {
  return code == StatusCode::kHoldsIntegers ? plan::Reason::kHoldsIntegers
                                            : plan::Reason::kDeclined;
}

message::Coder coder_of(const codec::Spec& spec) {
  return {.codec = spec.codec, .parameter = spec.parameter, .fill = spec.fill};
}

Status lost() { return {StatusCode::kDamaged, "another rank could not send its data"}; }

}  // namespace

Result<std::uint64_t> Engine::most_bytes(const Shape& shape) const {
  const codec::Spec& spec = settings_->spec;
  // Whichever it is, a raw frame fits too.
  const bool is_off = spec.kind == codec::Spec::Kind::kOff;
  auto most = spec.kind == codec::Spec::Kind::kAuto ? message::automatic_bound(array(shape))
              : is_off ? message::bound(message::raw_coder(), array(shape))
                       : message::bound(coder_of(spec), array(shape));
  if (most.ok() && settings_->reference != nullptr) *most += frame::kDeltaBytes;
  return most;
}

// One frame of the values; a status that is_declined() if it would be no shorter.
Result<std::uint64_t> Engine::code(const std::byte* values, const Shape& shape,
                                   MutableByteView slot) {
  message::EncodeOptions options;
  options.mark = settings_->mark;
  options.decline = !settings_->on_device;
  if (settings_->spec.kind == codec::Spec::Kind::kAuto) {
    return message::encode_automatically(array(shape), values, slot, settings_->terms, options);
  }
  return message::encode(coder_of(settings_->spec), array(shape), values, slot, options);
}

// kDeclined if ordinary coding is foreseen to leave no more.
Result<Packet> Engine::encode_delta(const std::byte* values, const Shape& shape,
                                    MutableByteView slot, const message::Reference& reference) {
  const std::uint64_t raw = bytes(shape);
  message::take_difference(settings_->dtype, raw, values, reference.values, spare_);
  const auto frame = code(spare_, shape, slot.subspan(frame::kDeltaBytes));
  if (!frame.ok()) return frame.status();
  const std::uint64_t length = frame::kDeltaBytes + *frame;
  const double ordinary = settings_->reference->ordinary_share * static_cast<double>(raw);
  if (length >= raw || static_cast<double>(length) >= ordinary) {
    return {StatusCode::kDeclined, "the difference is no shorter"};
  }
  frame::pack_delta({reference.number, checksum({reference.values, raw})}, settings_->mark,
                    slot.data());
  return Packet{
      .kind = Packet::Kind::kFrame, .data = slot.data(), .bytes = length, .is_delta = true};
}

Result<Packet> Engine::encode(const std::byte* values, const Shape& shape, MutableByteView slot,
                              const message::Reference& reference) {
  using Kind = codec::Spec::Kind;
  if (settings_->spec.kind == Kind::kOff) return pass(values, shape, slot, plan::Reason::kOff);
  if (reference.values != nullptr) {
    auto delta = encode_delta(values, shape, slot, reference);
    if (delta.ok() || !is_declined(delta.status().code())) return delta;
  }
  const auto length = code(values, shape, slot);
  if (length.ok()) return frame_of(slot.data(), *length, bytes(shape));
  const StatusCode code = length.status().code();
  if (is_declined(code)) return values_of(values, bytes(shape), why_declined(code));
  return length.status();
}

Result<Packet> Engine::pass(const std::byte* values, const Shape& shape, MutableByteView slot,
                            plan::Reason why) {
  if (!settings_->on_device) return values_of(values, bytes(shape), why);
  const Status copied = device::copy(slot.data(), values, bytes(shape));
  if (!copied.ok()) return copied;
  return values_of(slot.data(), bytes(shape), why);
}

Status Engine::check(const Packet& packet, const Shape& shape) const {
  const auto info = message::inspect({packet.data, packet.bytes}, settings_->mark);
  if (!info.ok()) return info.status();
  const std::uint64_t sent = info->header.shape.count(), awaited = shape.count();
  if (info->header.dtype == settings_->dtype && sent > awaited) {
    return {StatusCode::kTooSmall, "the ranks' counts differ: a piece of " + std::to_string(sent) +
                                       " values came in the place of one of " +
                                       std::to_string(awaited)};
  }
  if (info->header.dtype != settings_->dtype || !(info->header.shape == shape)) {
    return {StatusCode::kDamaged, "a frame of another array came in the place of a piece"};
  }
  return {};
}

Status Engine::decode(const Packet& packet, const Shape& shape, std::byte* to,
                      const message::Reference& reference) {
  if (packet.kind == Packet::Kind::kLost) return lost();
  if (packet.kind == Packet::Kind::kValues) {
    return packet.data == to ? Status() : device::copy(to, packet.data, packet.bytes);
  }
  if (frame::is_delta({packet.data, packet.bytes}, settings_->mark)) {
    return message::decode_delta({packet.data, packet.bytes}, array(shape), reference,
                                 settings_->mark, to);
  }
  if (Status status = check(packet, shape); !status.ok()) return status;
  return message::decode({packet.data, packet.bytes}, {to, bytes(shape)}, settings_->mark).status();
}

Status Engine::reduce(const Packet& packet, const Shape& shape, std::byte* to) {
  if (packet.kind == Packet::Kind::kLost) return lost();
  if (packet.kind == Packet::Kind::kValues) return combine(to, packet.data, shape);
  if (Status status = check(packet, shape); !status.ok()) return status;
  const bool adds = settings_->reduction == Reduction::kSum;
  if (!adds && !needs_spare()) {
    return {StatusCode::kDamaged, "a frame came from a rank where nothing is to be coded"};
  }
  std::byte* into = adds ? to : spare_;
  const Status decoded = message::decode({packet.data, packet.bytes}, {into, bytes(shape)},
                                         settings_->mark, nullptr, {.adds = adds})
                             .status();
  if (!decoded.ok() || adds) return decoded;
  return combine(to, spare_, shape);
}

Status Engine::copy(std::byte* to, const std::byte* from, const Shape& shape) {
  return device::copy(to, from, bytes(shape));
}

Status Engine::combine(std::byte* to, const std::byte* from, const Shape& shape) {
  if (settings_->on_device) {
    return combine_anywhere(settings_->reduction, settings_->dtype, shape.count(), to, from);
  }
  collective::combine(settings_->reduction, settings_->dtype, shape.count(), to, from);
  return {};
}

Status Engine::add_exactly(std::byte* first, std::uint64_t stride, int arrays, const Shape& shape) {
  if (settings_->reduction != Reduction::kSum) {
    for (int array = 1; array < arrays; ++array) {
      const auto before = stride * static_cast<std::uint64_t>(array);
      if (Status status = combine(first, first + before, shape); !status.ok()) return status;
    }
    return {};
  }
  const Operands all{.first = first, .stride = stride, .count = arrays, .is_exact = true};
  if (settings_->on_device) {
    return sum_anywhere(settings_->dtype, shape.count(), all, first);
  }
  sum_exactly(settings_->dtype, shape.count(), all, first);
  return {};
}

}  // namespace thinwire::collective
