#include "job.h"

#include <algorithm>

#include "timing.h"

namespace thinwire::bench {

Coder::Coder(const Request& request, const Stream& stream)
    : shape_(request.shape), array_bytes_(request.values.size()) {
  tw_codec* codec = nullptr;
  check(tw_codec_create(request.spec.c_str(), &codec));
  codec_.reset(codec);
  options_.size = sizeof options_;
  options_.flags = request.checksums ? 0 : TW_MESSAGE_NO_CHECKSUM;
  options_.stream = stream.get();
  // Enqueued work does not look for integers, so neither does what it is compared with.
  options_.flags |= TW_MESSAGE_INTEGERS;
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    check(tw_codec_describe(index, &info));
    if (static_cast<std::int32_t>(info.id) == tw_codec_id(codec)) lossless_ = info.lossless != 0;
  }
  check(tw_message_bound(codec, &shape_, &bound_));
  std::uint64_t workspace = 0;
  check(tw_message_workspace(codec, &shape_, &workspace));
  workspace_ = std::make_unique<DeviceBytes>(workspace);
  check(cudaMemsetAsync(workspace_->data(), 0, workspace, stream.get()));
  stream.finish();
}

void Coder::encode(const std::byte* source, std::byte* frame, std::uint64_t* outcome) const {
  check(tw_message_encode_enqueue(codec_.get(), &shape_, source, frame, bound_, &options_,
                                  workspace_->data(), workspace_->size(), outcome));
}

void Coder::decode(const std::byte* frame, std::uint64_t length, std::byte* target,
                   std::uint64_t* outcome) const {
  check(tw_message_decode_enqueue(codec_.get(), &shape_, frame, length, target, array_bytes_,
                                  &options_, workspace_->data(), workspace_->size(), outcome));
}

bool Coder::decode_add(const std::byte* frame, std::uint64_t length, std::byte* target,
                       std::uint64_t* outcome) const {
  tw_message_options options = options_;
  options.flags |= TW_MESSAGE_ADD;
  options.scale = kAddScale;
  const tw_status status =
      tw_message_decode_enqueue(codec_.get(), &shape_, frame, length, target, array_bytes_,
                                &options, workspace_->data(), workspace_->size(), outcome);
  if (status == TW_UNSUPPORTED) return false;
  check(status);
  return true;
}

Slots::Slots(const Coder& coder, const std::vector<std::byte>& values, const Stream& stream)
    : count_(slot_count(coder.array_bytes())),
      arrays_(count_ * aligned(coder.array_bytes())),
      frames_(count_ * aligned(coder.bound())),
      decoded_(count_ * aligned(coder.array_bytes())) {
  for (std::uint64_t slot = 0; slot < count_; ++slot) {
    check(cudaMemcpyAsync(array(slot), slot == 0 ? values.data() : array(0), values.size(),
                          cudaMemcpyDefault, stream.get()));
  }
  stream.finish();
}

void Slots::poison_frames(const Stream& stream) const {
  check(cudaMemsetAsync(frames_.data(), 0x5A, frames_.size(), stream.get()));
}

void Slots::poison_decoded(const Stream& stream) const {
  check(cudaMemsetAsync(decoded_.data(), 0xA5, decoded_.size(), stream.get()));
}

void Slots::preset_decoded(const Stream& stream) const {
  for (std::uint64_t slot = 0; slot < count_; ++slot) {
    check(cudaMemcpyAsync(decoded(slot), array(0), decoded_.size() / count_,
                          cudaMemcpyDeviceToDevice, stream.get()));
  }
}

}  // namespace thinwire::bench
