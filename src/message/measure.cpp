#include "message/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "device/pool.h"
#include "device/work_stream.h"

namespace thinwire::message {
namespace {

// The first one also touches memory that is new.
constexpr int kRuns = 3;

// A sine of whole numbers from 0 on, each turned on from the one before: a program's first message
// waits for it, and a call of std::sin() a value takes as long as a codec.
class Sine {
 public:
  Sine(double step, double phase)
      : value_(std::sin(phase)),
        beside_(std::cos(phase)),
        sin_(std::sin(step)),
        cos_(std::cos(step)) {}

  double next() {
    const double value = value_;
    value_ = value * cos_ + beside_ * sin_;
    beside_ = beside_ * cos_ - value * sin_;
    return value;
  }

 private:
  double value_, beside_, sin_, cos_;
};

// Two incommensurate waves: smooth like a field, without a period that a codec could exploit.
std::vector<double> waves(std::uint64_t count) {
  Sine slow(0.013, 0), fast(0.131, 1.0);
  std::vector<double> values(count);
  for (double& value : values) value = slow.next() + 0.25 * fast.next();
  return values;
}

// The wave along every axis, shifted from line to line: the sum of a value's indices.
std::uint64_t time_at(const Shape& shape, std::uint64_t index) {
  std::uint64_t time = 0;
  for (int axis = shape.rank - 1; axis > 0; --axis) {
    time += index % shape.extent[axis];
    index /= shape.extent[axis];
  }
  return time + index;
}

// `value` cut to a type of so many bits of exponent and mantissa. The wave stays below that type's
// largest values, so rebiasing the exponent is enough.
std::uint32_t narrowed(float value, int exponent_bits, int mantissa_bits) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xFF) - 127 + (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t sign = bits >> 31 << (exponent_bits + mantissa_bits);
  if (exponent <= 0) return sign;
  const std::uint32_t mantissa = (bits & 0x7FFFFF) >> (23 - mantissa_bits);
  return sign | static_cast<std::uint32_t>(exponent) << mantissa_bits | mantissa;
}

std::vector<std::byte> make_sample(const codec::Chunk& array) {
  const Dtype dtype = array.dtype;
  std::vector<std::byte> sample(array.raw_bytes());
  const std::vector<double> wave = waves(time_at(array.shape, array.shape.count() - 1) + 1);
  for (std::uint64_t index = 0; index < array.shape.count(); ++index) {
    std::byte* at = sample.data() + index * dtype_size(dtype);
    const double value = wave[time_at(array.shape, index)];
    const float narrow = static_cast<float>(value);
    switch (dtype) {
      case Dtype::kF32:
        store(at, narrow);
        break;
      case Dtype::kF64:
        store(at, value);
        break;
      case Dtype::kBf16:
        store(at, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(narrow) >> 16));
        break;
      case Dtype::kF16:
        store(at, static_cast<std::uint16_t>(narrowed(narrow, 5, 10)));
        break;
      case Dtype::kE4m3:
        store(at, static_cast<std::uint8_t>(narrowed(narrow, 4, 3)));
        break;
      case Dtype::kE5m2:
        store(at, static_cast<std::uint8_t>(narrowed(narrow, 5, 2)));
        break;
      case Dtype::kBytes:
        store(at, static_cast<std::uint8_t>(static_cast<int>(40 * value)));
        break;
    }
  }
  return sample;
}

template <typename Work>
double seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Encodes `array` at `source` into `frame` and decodes it into `target`, several times.
Result<CodecSpeed> time_coder(const Coder& coder, const codec::Chunk& array,
                              const std::byte* source, MutableByteView frame,
                              MutableByteView target) {
  double encode_seconds = std::numeric_limits<double>::max();
  double decode_seconds = std::numeric_limits<double>::max();
  std::uint64_t length = 0;
  for (int run = 0; run < kRuns; ++run) {
    Status failure;
    encode_seconds = std::min(encode_seconds, seconds([&] {
                                auto written = encode(coder, array, source, frame, {});
                                if (written.ok())
                                  length = *written;
                                else
                                  failure = written.status();
                              }));
    if (!failure.ok()) return failure;
    decode_seconds =
        std::min(decode_seconds, seconds([&] {
                   auto info = decode(ByteView(frame).first(length), target, frame::file_mark());
                   if (!info.ok()) failure = info.status();
                 }));
    if (!failure.ok()) return failure;
  }
  const double raw = static_cast<double>(array.raw_bytes());
  return CodecSpeed{raw / std::max(encode_seconds, 1e-9), raw / std::max(decode_seconds, 1e-9),
                    raw / static_cast<double>(length)};
}

}  // namespace

Result<CodecSpeed> measure(const Coder& coder, const codec::Chunk& array) {
  auto most = bound(coder, array);
  if (!most.ok()) return most.status();
  const std::vector<std::byte> sample = make_sample(array);
  std::vector<std::byte> frame(*most);
  std::vector<std::byte> target(sample.size());
  return time_coder(coder, array, sample.data(), frame, target);
}

Result<CodecSpeed> measure_on_device(const Coder& coder, const codec::Chunk& array, int device) {
  auto most = bound(coder, array);
  if (!most.ok()) return most.status();
  auto source = device::acquire_device(device, array.raw_bytes());
  if (!source.ok()) return source.status();
  auto target = device::acquire_device(device, array.raw_bytes());
  if (!target.ok()) return target.status();
  auto frame = device::acquire_pinned(*most);
  if (!frame.ok()) return frame.status();
  auto work = device::acquire_work_stream(device, 0);
  if (!work.ok()) return work.status();
  const std::vector<std::byte> sample = make_sample(array);
  Status status = work->copy(source->data(), sample.data(), sample.size());
  if (status.ok()) status = work->finish();
  if (!status.ok()) return status;
  return time_coder(coder, array, source->data(), {frame->data(), *most},
                    {target->data(), sample.size()});
}

}  // namespace thinwire::message
