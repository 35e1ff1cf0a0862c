#include "verify.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "values.h"

namespace thinwire::bench {
namespace {

void require(bool holds, const char* otherwise) {
  if (!holds) throw std::runtime_error(otherwise);
}

std::vector<std::byte> to_host(const std::byte* source, std::uint64_t bytes) {
  std::vector<std::byte> host(bytes);
  check(cudaMemcpy(host.data(), source, bytes, cudaMemcpyDeviceToHost));
  return host;
}

// The CPU's frame of the same array; empty where the CPU declines it.
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

// The slots that the calls used hold what the first does.
void check_slots(const Coder& coder, const Slots& slots, const Stream& stream,
                 const Measured& measured) {
  DeviceBytes differences(sizeof(unsigned long long));
  check(cudaMemsetAsync(differences.data(), 0, differences.size(), stream.get()));
  auto* count = reinterpret_cast<unsigned long long*>(differences.data());
  const auto calls = static_cast<std::uint64_t>(timed_calls(coder.array_bytes()) + kWarmUps);
  for (std::uint64_t slot = 1; slot < std::min(slots.count(), calls); ++slot) {
    count_differences(stream, slots.frame(0), slots.frame(slot), measured.frame_bytes, count);
    count_differences(stream, slots.decoded(0), slots.decoded(slot), coder.array_bytes(), count);
  }
  stream.finish();
  unsigned long long found = 0;
  check(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost));
  require(found == 0, "the same array gave different bytes");
}

}  // namespace

Verified verify(const Request& request, const Coder& coder, const Slots& slots,
                const Stream& stream, const Measured& measured) {
  const auto expected = frame_of_cpu(request, coder);
  const Values input{request.dtype, request.values};
  Verified verified{0, range_of(input)};
  require(expected.empty() == measured.declined, "GPU and CPU do not agree on declining");
  if (measured.declined) return verified;

  require(expected.size() == measured.frame_bytes, "the CPU's frame has another size");
  require(to_host(slots.frame(0), measured.frame_bytes) == expected, "the CPU's frame differs");
  const auto decoded = to_host(slots.decoded(0), request.values.size());
  std::vector<std::byte> decoded_by_cpu(request.values.size(), std::byte{0xA5});
  check(tw_message_decode(expected.data(), expected.size(), decoded_by_cpu.data(),
                          decoded_by_cpu.size(), nullptr, nullptr));
  require(decoded == decoded_by_cpu, "the CPU decodes to another array");
  if (coder.lossless()) {
    require(decoded == request.values, "what came back is not what went in");
  } else {
    verified.max_error = max_error(input, {request.dtype, decoded});
    require(std::isfinite(verified.max_error), "finite values came back as NaN or infinity");
  }
  check_slots(coder, slots, stream, measured);
  return verified;
}

}  // namespace thinwire::bench
