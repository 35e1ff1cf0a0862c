#include "measure.h"

#include <algorithm>
#include <cmath>

#include "timing.h"
#include "values.h"

namespace thinwire::bench {
namespace {

void require(bool holds, const char* otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

// A frame and what it decodes to; both empty if the array is declined.
struct Coded {
  std::vector<std::byte> frame;
  std::vector<std::byte> decoded;
};

tw_message_options declining(const Coder& coder) {
  tw_message_options options = coder.options();
  options.flags |= TW_MESSAGE_DECLINE;
  options.stream = nullptr;
  return options;
}

// False if the codec has no CPU side.
bool code_on_cpu(const Request& request, const Coder& coder, Coded& coded) {
  coded.frame.resize(coder.bound());
  const tw_message_options options = declining(coder);
  std::uint64_t written = 0;
  const tw_status status =
      tw_message_encode(coder.codec(), &coder.shape(), request.values.data(), coded.frame.data(),
                        coded.frame.size(), &options, &written);
  if (status == TW_UNSUPPORTED) return false;
  if (status != TW_DECLINED) check(status);
  coded.frame.resize(status == TW_DECLINED ? 0 : written);
  if (coded.frame.empty()) return true;
  coded.decoded.assign(request.values.size(), std::byte{0xA5});
  check(tw_message_decode(coded.frame.data(), coded.frame.size(), coded.decoded.data(),
                          coded.decoded.size(), nullptr, nullptr));
  return true;
}

std::vector<std::byte> to_host(const DeviceBytes& source, std::uint64_t bytes) {
  std::vector<std::byte> host(bytes);
  check(cudaMemcpy(host.data(), source.data(), bytes, cudaMemcpyDeviceToHost));
  return host;
}

std::unique_ptr<DeviceBytes> on_gpu(const std::vector<std::byte>& host) {
  auto bytes = std::make_unique<DeviceBytes>(host.size());
  check(cudaMemcpy(bytes->data(), host.data(), host.size(), cudaMemcpyHostToDevice));
  return bytes;
}

// One blocking call each way, whose outcome all others are held to.
void code_on_gpu(const Request& request, const Coder& coder, Coded& coded) {
  const auto source = on_gpu(request.values);
  const DeviceBytes frame(coder.bound()), target(request.values.size());
  check(cudaMemset(target.data(), 0xA5, target.size()));
  const tw_message_options options = declining(coder);
  std::uint64_t written = 0;
  const tw_status status = tw_message_encode(coder.codec(), &coder.shape(), source->data(),
                                             frame.data(), frame.size(), &options, &written);
  if (status != TW_DECLINED) check(status);
  coded.frame.clear();
  if (status == TW_DECLINED) return;
  check(tw_message_decode(frame.data(), written, target.data(), target.size(), nullptr, nullptr));
  coded.frame = to_host(frame, written);
  coded.decoded = to_host(target, target.size());
}

// The array with its decoded self added and scaled, by the CPU; empty if nothing is added.
std::vector<std::byte> add_on_cpu(const Request& request, const std::vector<std::byte>& frame) {
  std::vector<std::byte> sum = request.values;
  tw_message_options options{};
  options.size = sizeof options;
  options.flags = TW_MESSAGE_ADD;
  options.scale = kAddScale;
  const tw_status status =
      tw_message_decode(frame.data(), frame.size(), sum.data(), sum.size(), &options, nullptr);
  if (status == TW_UNSUPPORTED) return {};
  check(status);
  return sum;
}

// Whether `place(slot)` holds the bytes at `expected`, for each slot that calls used.
template <typename Place>
bool all_hold(const Stream& stream, std::uint64_t used, const std::byte* expected,
              std::uint64_t bytes, Place&& place) {
  DeviceBytes differences(sizeof(unsigned long long));
  check(cudaMemsetAsync(differences.data(), 0, differences.size(), stream.get()));
  auto* count = reinterpret_cast<unsigned long long*>(differences.data());
  for (std::uint64_t slot = 0; slot < used; ++slot) {
    count_differences(stream, expected, place(slot), bytes, count);
  }
  stream.finish();
  unsigned long long found = 0;
  check(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost));
  return found == 0;
}

std::uint64_t used_slots(const Slots& slots, int calls) {
  return std::min(slots.count(), static_cast<std::uint64_t>(calls));
}

}  // namespace

Expected::Expected(const Request& request, const Coder& coder) {
  const Values input{request.dtype, request.values};
  range_ = range_of(input);
  Coded coded;
  on_cpu_ = code_on_cpu(request, coder, coded);
  if (!on_cpu_) code_on_gpu(request, coder, coded);
  frame_bytes_ = coded.frame.size();
  if (declined()) return;
  if (coder.lossless()) {
    require(coded.decoded == request.values, "what came back is not what went in");
  } else {
    max_error_ = bench::max_error(input, {request.dtype, coded.decoded});
    require(std::isfinite(max_error_), "finite values came back as NaN or infinity");
  }
  frame_ = on_gpu(coded.frame);
  array_ = on_gpu(coded.decoded);
  if (!on_cpu_) return;
  const auto sum = add_on_cpu(request, coded.frame);
  if (!sum.empty()) sum_ = on_gpu(sum);
}

bool Expected::check_frames(const Slots& slots, int calls, const Stream& stream) const {
  const bool same = all_hold(stream, used_slots(slots, calls), frame_->data(), frame_bytes_,
                             [&](std::uint64_t slot) { return slots.frame(slot); });
  require(same || !on_cpu_, "the CPU's frame differs");
  return same;
}

void Expected::check_arrays(const Slots& slots, int calls, const Stream& stream) const {
  const bool same = all_hold(stream, used_slots(slots, calls), array_->data(), array_->size(),
                             [&](std::uint64_t slot) { return slots.decoded(slot); });
  require(same, on_cpu_ ? "the CPU decodes to another array" : "the first array differs");
}

void Expected::check_sums(const Slots& slots, int calls, const Stream& stream) const {
  const bool same = all_hold(stream, used_slots(slots, calls), sum_->data(), sum_->size(),
                             [&](std::uint64_t slot) { return slots.decoded(slot); });
  require(same, "the CPU adds to another array");
}

}  // namespace thinwire::bench
