#include "verify.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"
#include "values.h"

namespace thinwire::bench {
namespace {

void require(bool holds, const char* otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

// The CPU's frame of the array; empty where the CPU declines it.
std::vector<std::byte> frame_of_cpu(const Request& request, const Coder& coder) {
  std::vector<std::byte> frame(coder.bound());
  tw_message_options options = coder.options();
  options.flags |= TW_MESSAGE_DECLINE;
  options.stream = nullptr;
  std::uint64_t written = 0;
  const tw_status status = tw_message_encode(coder.codec(), &coder.shape(), request.values.data(),
                                             frame.data(), frame.size(), &options, &written);
  if (status != TW_DECLINED) check(status);
  frame.resize(status == TW_DECLINED ? 0 : written);
  return frame;
}

std::unique_ptr<DeviceBytes> on_gpu(const std::vector<std::byte>& host) {
  auto bytes = std::make_unique<DeviceBytes>(host.size());
  check(cudaMemcpy(bytes->data(), host.data(), host.size(), cudaMemcpyHostToDevice));
  return bytes;
}

// `place(slot)` holds `bytes` bytes equal to those at `expected`, for each slot that calls used.
template <typename Place>
void check_slots(const Stream& stream, std::uint64_t used, const std::byte* expected,
                 std::uint64_t bytes, Place&& place, const char* otherwise) {
  DeviceBytes differences(sizeof(unsigned long long));
  check(cudaMemsetAsync(differences.data(), 0, differences.size(), stream.get()));
  auto* count = reinterpret_cast<unsigned long long*>(differences.data());
  for (std::uint64_t slot = 0; slot < used; ++slot) {
    count_differences(stream, expected, place(slot), bytes, count);
  }
  stream.finish();
  unsigned long long found = 0;
  check(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost));
  require(found == 0, otherwise);
}

std::uint64_t used_slots(const Slots& slots, int calls) {
  return std::min(slots.count(), static_cast<std::uint64_t>(calls));
}

}  // namespace

Expected::Expected(const Request& request, const Coder& coder) {
  const Values input{request.dtype, request.values};
  range_ = range_of(input);
  const auto frame = frame_of_cpu(request, coder);
  frame_bytes_ = frame.size();
  if (declined()) return;
  std::vector<std::byte> decoded(request.values.size(), std::byte{0xA5});
  check(tw_message_decode(frame.data(), frame.size(), decoded.data(), decoded.size(), nullptr,
                          nullptr));
  if (coder.lossless()) {
    require(decoded == request.values, "what came back is not what went in");
  } else {
    max_error_ = bench::max_error(input, {request.dtype, decoded});
    require(std::isfinite(max_error_), "finite values came back as NaN or infinity");
  }
  frame_ = on_gpu(frame);
  array_ = on_gpu(decoded);
}

void Expected::check_frames(const Slots& slots, int calls, const Stream& stream) const {
  check_slots(
      stream, used_slots(slots, calls), frame_->data(), frame_bytes_,
      [&](std::uint64_t slot) { return slots.frame(slot); }, "the CPU's frame differs");
}

void Expected::check_arrays(const Slots& slots, int calls, const Stream& stream) const {
  check_slots(
      stream, used_slots(slots, calls), array_->data(), array_->size(),
      [&](std::uint64_t slot) { return slots.decoded(slot); }, "the CPU decodes to another array");
}

}  // namespace thinwire::bench
