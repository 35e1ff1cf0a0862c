#include "message/comparison.h"

#include <algorithm>
#include <utility>

#include "base/vector_units.h"
#include "device/place.h"
#include "message/host.h"
#include "message/strides.h"

namespace thinwire::message {
namespace {

// A codec of no wide strides is tried with others if it is at most so much worse: values in
// tuples may be the reason for that.
constexpr double kNearlyBest = 0.95;

// Time that a slow codec (`ans`) takes if a fast codec takes 1, encoding and decoding together, by
// a place's means.
constexpr double kTimesSlowerByWideVectors = 2;
constexpr double kTimesSlowerByOthers = 8;
constexpr double kTimesSlowerOnDevice = 7;
// It is not tried if it would have to leave away so much more of the array: it hardly can,
// and trying takes time.
constexpr double kMostNeeded = 0.15;

double times_slower_at(const device::Place& place) {
  if (place.on_device()) return kTimesSlowerOnDevice;
  return has_wide_vectors() ? kTimesSlowerByWideVectors : kTimesSlowerByOthers;
}

}  // namespace

Comparison::Comparison(const codec::Chunk& array, const std::byte* source,
                       device::StreamHandle stream)
    : array_(array), source_(source), stream_(stream) {
  for_each_way(array, [&](const Coder& coder) {
    if (!boxes_ && sees_axes(coder, array)) boxes_ = sample_boxes(array, coder);
  });
  runs_ = sample_runs(array, boxes_ ? &*boxes_ : nullptr);
}

Status Comparison::compare() {
  for_each_way(array_, [&](const Coder& coder) { add(coder); });
  if (Status status = run(); !status.ok() || line_.coder.codec == nullptr) return status;
  if (by_stride(*line_.coder.codec).size() >= kFirstStrides.back()) return find_stride();
  if (line_.share() * kNearlyBest > best_share_) return {};
  for (const Coder& coder : by_stride(*line_.coder.codec).subspan(1)) add_as_line(coder);
  const Status status = run();
  consider(last_);
  return status;
}

Status Comparison::compare_slow(const AutomaticTerms& terms) {
  if (!has_slow_candidate(array_.dtype) || terms.codec_share >= 1) return {};
  // Asks the driver: only if a link is known.
  const auto place = device::place_of(source_);
  if (!place.ok()) return place.status();
  const double times_slower = times_slower_at(*place);
  const bool stays_raw = best_share_ * std::max(1.0, terms.least_ratio) > 1;
  const double needed = (times_slower - (stays_raw ? 0 : 1)) * terms.codec_share;
  if (needed >= kMostNeeded) return {};
  const Coder& slow = automatic_candidates(array_.dtype).back();
  const std::span<const Coder> strides = by_stride(*slow.codec);
  const std::size_t stride = best_.coder.codec == nullptr ? 1 : stride_of(best_.coder);
  std::array<Trial, 2> trials{};
  std::size_t count = 0;
  if (slow.codec->strides.has_none) trials[count++] = {with_stride(*slow.codec, 0), &runs_};
  trials[count++] = {stride <= strides.size() ? strides[stride - 1] : slow, &runs_};
  const std::span<Trial> tried(trials.data(), count);
  for (const Trial& trial : tried) {
    if (!bound(trial.coder, runs_.array).ok()) return {};
  }
  if (Status status = try_all(tried, source_, stream_); !status.ok()) return status;
  const Trial& least = *std::ranges::min_element(tried, {}, &Trial::bytes);
  if (least.share() + needed >= (stays_raw ? 1 : best_share_)) return {};
  best_ = least;
  best_share_ = least.share();
  return {};
}

void Comparison::add(const Coder& coder) {
  const Sample& sample = sees_axes(coder, array_) ? *boxes_ : runs_;
  if (bound(coder, sample.array).ok()) trials_[count_++] = {coder, &sample};
}

void Comparison::add_as_line(Coder coder) {
  coder.as_line = !coder.codec->flat && has_axes(array_.shape);
  add(coder);
}

// From wide strides down to the least that does not lose.
Status Comparison::find_stride() {
  const std::span<const Coder> all = by_stride(*line_.coder.codec);
  for (const std::size_t first : kFirstStrides) add(all[first - 1]);
  if (Status status = run(); !status.ok()) return status;
  if (last_.coder.codec == nullptr || share_of(last_) >= line_.share()) return {};
  Trial least = last_;
  while (last_.share() <= least.share()) {
    least = last_;
    const std::size_t stride = stride_of(least.coder);
    for (const std::size_t divisor : kStrideDivisors) {
      if (stride % divisor == 0 && stride > divisor) add(all[stride / divisor - 1]);
    }
    if (count_ == 0) break;
    if (Status status = run(); !status.ok()) return status;
  }
  consider(least);
  const std::size_t stride = stride_of(least.coder);
  for (const Coder& coder : fast_candidates(array_.dtype)) {
    const std::span<const Coder> others = by_stride(*coder.codec);
    if (coder.codec != line_.coder.codec && stride <= others.size()) {
      add_as_line(others[stride - 1]);
    }
  }
  return run();
}

// Predicts what is left of one byte of the array. The first values of each run of a sample have
// others a stride before them than in the array; half of what that may cost is taken off, and never
// more than half of all.
double Comparison::share_of(const Trial& trial) const {
  const double share = trial.share();
  const Sample& sample = *trial.sample;
  if (&sample != &runs_ || sample.is_whole() || trial.coder.codec != line_.coder.codec) {
    return share;
  }
  const auto values = static_cast<double>(sample.places.row_bytes / dtype_size(array_.dtype));
  const auto first = static_cast<double>(stride_of(trial.coder) - 1);
  const double of_first = (share + line_.share()) / 2;
  return std::max((share * values - of_first * first) / (values - first), share / 2);
}

Status Comparison::run() {
  const std::span<Trial> tried(trials_.data(), std::exchange(count_, 0));
  if (Status status = try_all(tried, source_, stream_); !status.ok()) return status;
  last_ = {};
  for (const Trial& trial : tried) {
    // Takes the last of the candidates that take strides, which takes the most.
    const bool is_single = stride_of(trial.coder) == 1;
    if (is_single && trial.sample == &runs_ && by_stride(*trial.coder.codec).size() > 1) {
      line_ = trial;
    }
    if (last_.coder.codec == nullptr || share_of(trial) < share_of(last_)) last_ = trial;
    if (is_single || trial.coder.codec != line_.coder.codec) consider(trial);
  }
  return {};
}

void Comparison::consider(const Trial& trial) {
  if (trial.coder.codec == nullptr || share_of(trial) >= best_share_) return;
  best_ = trial;
  best_share_ = share_of(trial);
}

}  // namespace thinwire::message
