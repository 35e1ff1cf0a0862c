#include "collective/enqueued/host_work.h"

#include <cstring>
#include <limits>

#include "codec/reduce.h"
#include "collective/reduce.h"
#include "message/allowed.h"
#include "message/host.h"

namespace thinwire::collective {

void HostWork::make_nan(std::byte* at, const Shape& shape) const {
  with_float_dtype(settings_->dtype, [&](auto kDtype) {
    using Number = codec::NumberOf<kDtype>;
    const auto nan = codec::word_of<kDtype>(std::numeric_limits<Number>::quiet_NaN());
    for (std::uint64_t i = 0; i < shape.count(); ++i) store(at + i * sizeof nan, nan);
  });
}

Result<WorkMemory> HostWork::memory_for(const Shape& shape) const {
  if (Status status = message::check_usable(*settings_->spec.codec, false); !status.ok()) {
    return status;
  }
  return WorkMemory{.workspace_bytes = 0, .spare_bytes = array(shape).raw_bytes()};
}

Status HostWork::begin(MutableByteView, std::byte* spare) {
  spare_ = spare;
  return {};
}

Status HostWork::clear(std::byte* at, std::uint64_t bytes) {
  if (bytes > 0) std::memset(at, 0, bytes);
  return {};
}

Status HostWork::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, bytes);
  return {};
}

Status HostWork::combine(std::byte* to, const std::byte* from, const Shape& shape) {
  collective::combine(settings_->reduction, settings_->dtype, shape.count(), to, from);
  return {};
}

Status HostWork::encode(const std::byte* from, const Shape& shape, MutableByteView slot,
                        device::Outcome* outcome) {
  return encode_with(settings_->spec.parameter, from, shape, slot, outcome);
}

Status HostWork::encode_with(std::uint64_t parameter, const std::byte* from, const Shape& shape,
                             MutableByteView slot, device::Outcome* outcome) {
  const message::Coder with{settings_->spec.codec, parameter};
  message::EncodeOptions options;
  options.mark = settings_->mark;
  options.decline = true;  // so that a fixed size is room enough
  const auto bytes = message::encode_on_host(with, array(shape), from, slot, options);
  // What is declined leaves no frame, whatever was there.
  if (!bytes.ok()) std::memset(slot.data(), 0, sizeof(frame::Mark));
  *outcome = device::make_outcome(bytes.status().code(), bytes.ok() ? *bytes : 0);
  return {};
}

Status HostWork::check(const Result<message::Info>& info, const Shape& shape) const {
  if (!info.ok()) return info.status();
  if (info->codec != coder().codec || info->header.dtype != settings_->dtype ||
      !(info->header.shape == shape)) {
    return {StatusCode::kDamaged, "a frame of another array came in the place of this one"};
  }
  return message::check_allowed(*info->codec);
}

Status HostWork::decode(ByteView frame, const Shape& shape, std::byte* to,
                        device::Outcome* outcome) {
  const auto info = message::find_coder(frame::unpack(frame, settings_->mark), settings_->mark);
  Status status = check(info, shape);
  if (status.ok()) status = message::decode_on_host(*info, frame, {}, to);
  *outcome = device::make_outcome(status.code(), 0);
  if (!status.ok()) make_nan(to, shape);
  return {};
}

Status HostWork::reduce(ByteView frame, const Shape& shape, std::byte* to,
                        device::Outcome* outcome) {
  if (Status status = decode(frame, shape, spare_, outcome); !status.ok()) return status;
  return combine(to, spare_, shape);
}

}  // namespace thinwire::collective
