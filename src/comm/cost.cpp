#include "comm/cost.h"

#include <bit>

#include "comm/exchange.h"
#include "message/automatic.h"
#include "message/measure.h"

namespace thinwire::comm {
namespace {

constexpr std::uint64_t kSampleBytes = 1 << 20;

// The coder of a piece, as far as it is known before the data is.
message::Coder coder_of(const Call& call, int size) {
  const codec::Spec& spec = call.spec;
  if (spec.kind == codec::Spec::Kind::kAuto) {
    const std::uint64_t values = kSampleBytes / dtype_size(call.dtype);
    return message::automatic_in_stream({.dtype = call.dtype, .shape = Shape::line(values)});
  }
  if (plan::reduces(call.operation) && spec.result_bound.exists()) {
    // A sample of unit range has the same bound either way.
    return {spec.codec, spec.codec->with_bound(spec.parameter, spec.result_bound.value / size)};
  }
  return {spec.codec, spec.parameter};
}

// Positive doubles are in the order of their bits.
Status keep_least(transport::Transport& transport, double& value) {
  std::uint64_t inverse = ~std::bit_cast<std::uint64_t>(value);
  const Status status = largest(transport, &inverse);
  value = std::bit_cast<double>(~inverse);
  return status;
}

}  // namespace

plan::CodecCost measure_cost(const Call& call, int size, int device) {
  const message::Coder coder = coder_of(call, size);
  const auto speed = device < 0
                         ? message::measure(coder, call.dtype, kSampleBytes)
                         : message::measure_on_device(coder, call.dtype, kSampleBytes, device);
  if (!speed.ok()) return {.ratio = 0};
  return {.encode_bytes_per_second = speed->encode_bytes_per_second,
          .decode_bytes_per_second = speed->decode_bytes_per_second,
          .ratio = speed->ratio};
}

Status agree_on_slowest(transport::Transport& transport, plan::CodecCost& cost) {
  for (double* value :
       {&cost.encode_bytes_per_second, &cost.decode_bytes_per_second, &cost.ratio}) {
    if (Status status = keep_least(transport, *value); !status.ok()) return status;
  }
  return {};
}

}  // namespace thinwire::comm
