#include "comm/costs.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "collective/cutting.h"
#include "comm/exchange.h"
#include "message/automatic.h"
#include "message/measure.h"

namespace thinwire::comm {

const Costs::Known* Costs::find(const codec::Spec& spec, Dtype dtype) const {
  const auto found = std::ranges::find_if(
      known_, [&](const Known& one) { return one.dtype == dtype && one.spec == spec; });
  return found == known_.end() ? nullptr : &*found;
}

std::optional<plan::CodecCost> Costs::of(const Call& call) const {
  const std::lock_guard lock(mutex_);
  const Known* const known = find(call.spec, call.dtype);
  return known == nullptr ? std::nullopt : std::optional(known->cost);
}

void Costs::keep(const Call& call, const plan::CodecCost& cost) {
  const std::lock_guard lock(mutex_);
  if (find(call.spec, call.dtype) == nullptr) known_.push_back({call.spec, call.dtype, cost});
}

void Costs::want(const Call& call, int device) {
  const std::lock_guard lock(mutex_);
  const bool is_wanted = std::ranges::any_of(wanted_, [&](const Wanted& one) {
    return one.call.dtype == call.dtype && one.call.spec == call.spec;
  });
  if (is_wanted) return;
  Call kept = call;
  kept.send = nullptr;
  kept.receive = nullptr;
  kept.send_counts = kept.send_displacements = nullptr;
  kept.receive_counts = kept.receive_displacements = nullptr;
  wanted_.push_back({std::move(kept), device});
}

std::vector<Wanted> Costs::take_wanted() {
  const std::lock_guard lock(mutex_);
  return std::exchange(wanted_, {});
}

void Costs::adopt(const Costs& other) {
  if (this == &other) return;
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (const Known& one : other.known_) {
    if (find(one.spec, one.dtype) == nullptr) known_.push_back(one);
  }
}

namespace {

constexpr std::uint64_t kSampleBytes = 1 << 20;

codec::Chunk sample_of(const Call& call) {
  const std::uint64_t values = kSampleBytes / dtype_size(call.dtype);
  const std::uint64_t count = std::max(call.count, values);
  const auto whole = collective::Cutter(call.spec, call.dtype, kSampleBytes).whole(count);
  return {.dtype = call.dtype, .shape = whole.piece_shape(0)};
}

// The coder of a piece, as far as it is known before the data is.
message::Coder coder_of(const Call& call, const codec::Chunk& sample, int size) {
  const codec::Spec& spec = call.spec;
  if (spec.kind == codec::Spec::Kind::kAuto) {
    return message::automatic_in_stream(sample);
  }
  if (plan::reduces(call.operation) && spec.result_bound.exists()) {
    // All ranks together have as many ranges as there are ranks, and the sample's is 1.
    const bool is_absolute = spec.result_bound.kind == codec::ResultBound::Kind::kAbsolute;
    const double each = spec.result_bound.value / (is_absolute ? size : 1);
    return {spec.codec, spec.codec->with_bound(spec.parameter, each)};
  }
  return {.codec = spec.codec, .parameter = spec.parameter, .fill = spec.fill};
}

// Positive doubles are in the order of their bits.
Status keep_least(transport::Transport& transport, double& value) {
  std::uint64_t inverse = ~std::bit_cast<std::uint64_t>(value);
  const Status status = largest(transport, &inverse);
  value = std::bit_cast<double>(~inverse);
  return status;
}

// Tables have arrays of one line in host memory.
std::optional<plan::CodecCost> find_in(const costs::Table* known, const Call& call,
                                       const message::Coder& coder, int device) {
  if (known == nullptr || device >= 0 || call.spec.shape.rank > 0) return std::nullopt;
  const codec::Spec spec{
      .kind = codec::Spec::Kind::kCodec, .codec = coder.codec, .parameter = coder.parameter};
  return known->find(spec.text(), call.dtype, kSampleBytes, costs::Place::kHost);
}

// Measurements of this process, by what they depend on: programs make a communicator at each step,
// and a measurement takes some 10 ms.
struct Measured {
  std::mutex mutex;  // guards what is below; one thread measures at a time
  std::map<std::string, plan::CodecCost> costs;
};
constexpr std::size_t kMostMeasured = 1024;  // bounds of sums may be any

Measured& measured() {
  static auto* const of_process = new Measured;
  return *of_process;
}

std::string kind_of(const message::Coder& coder, const codec::Chunk& sample, int device) {
  const codec::Spec spec{
      .kind = codec::Spec::Kind::kCodec, .codec = coder.codec, .parameter = coder.parameter};
  std::string kind = spec.text() + " " + std::to_string(static_cast<int>(sample.dtype)) + " " +
                     std::to_string(device);
  for (int axis = 0; axis < sample.shape.rank; ++axis) {
    kind += " " + std::to_string(sample.shape.extent[static_cast<std::size_t>(axis)]);
  }
  return kind;
}

plan::CodecCost measure_now(const message::Coder& coder, const codec::Chunk& sample, int device) {
  const auto speed = device < 0 ? message::measure(coder, sample)
                                : message::measure_on_device(coder, sample, device);
  if (!speed.ok()) return {.ratio = 0};
  return {.encode_bytes_per_second = speed->encode_bytes_per_second,
          .decode_bytes_per_second = speed->decode_bytes_per_second,
          .ratio = speed->ratio};
}

}  // namespace

plan::CodecCost measure_cost(const Call& call, int size, int device, const costs::Table* known) {
  const codec::Chunk sample = sample_of(call);
  const message::Coder coder = coder_of(call, sample, size);
  if (const auto found = find_in(known, call, coder, device)) return *found;
  Measured& all = measured();
  const std::string kind = kind_of(coder, sample, device);
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.costs.find(kind); found != all.costs.end()) return found->second;
  const plan::CodecCost cost = measure_now(coder, sample, device);
  if (all.costs.size() < kMostMeasured) all.costs.emplace(kind, cost);
  return cost;
}

Status agree_on_slowest(transport::Transport& transport, plan::CodecCost& cost) {
  for (double* value :
       {&cost.encode_bytes_per_second, &cost.decode_bytes_per_second, &cost.ratio}) {
    if (Status status = keep_least(transport, *value); !status.ok()) return status;
  }
  return {};
}

}  // namespace thinwire::comm
