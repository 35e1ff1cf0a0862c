#include "message/automatic.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "codec/registry.h"
#include "device/place.h"
#include "message/host.h"
#include "message/strides.h"
#include "message/trial.h"

namespace thinwire::message {
namespace {

std::vector<Coder> coders(std::initializer_list<const char*> names) {
  std::vector<Coder> found;
  for (const char* name : names) {
    const codec::Codec* codec = codec::find_codec(name);
    if (codec != nullptr) found.push_back(coder_of(*codec));
  }
  return found;
}

// A codec of no wide strides is tried with others where it is at most so much behind: values in
// tuples are what it may be behind for.
constexpr double kNearlyBest = 0.95;

// What `ans` takes where a fast codec takes 1, encoding and decoding together.
constexpr double kTimesSlowerOnHost = 8;
constexpr double kTimesSlowerOnDevice = 7;
// `ans` is not tried where it would have to leave away so much more of the array: it hardly can,
// and trying takes time.
constexpr double kMostNeeded = 0.15;

bool has_axes(const Shape& shape) {
  return std::ranges::count_if(shape.extent.begin(), shape.extent.begin() + shape.rank,
                               [](std::uint64_t extent) { return extent > 1; }) > 1;
}

// All but `ans`.
std::span<const Coder> fast_candidates(Dtype dtype) {
  const std::span<const Coder> all = automatic_candidates(dtype);
  return all.empty() ? all : all.first(all.size() - 1);
}

// Calls visit(coder) for each way in which a fast candidate may code the array.
template <typename Visit>
void for_each_way(const codec::Chunk& array, Visit&& visit) {
  for (const Coder& coder : fast_candidates(array.dtype)) {
    visit(coder);
    if (coder.codec->flat || !has_axes(array.shape)) continue;
    Coder as_line = coder;
    as_line.as_line = true;
    visit(as_line);
  }
}

bool sees_axes(const Coder& coder, const codec::Chunk& array) {
  return !coder.codec->flat && !coder.as_line && has_axes(array.shape);
}

class Comparison {
 public:
  Comparison(const codec::Chunk& array, const std::byte* source, device::StreamHandle stream)
      : array_(array), source_(source), stream_(stream) {
    for_each_way(array, [&](const Coder& coder) {
      if (!boxes_ && sees_axes(coder, array)) boxes_ = sample_boxes(array, coder);
    });
    runs_ = sample_runs(array, boxes_ ? &*boxes_ : nullptr);
  }

  Status compare() {
    for_each_way(array_, [&](const Coder& coder) { add(coder); });
    if (Status status = run(); !status.ok() || line_.coder.codec == nullptr) return status;
    if (by_stride(*line_.coder.codec).size() >= kFirstStrides.back()) return find_stride();
    if (line_.share() * kNearlyBest > best_share_) return {};
    for (const Coder& coder : by_stride(*line_.coder.codec).subspan(1)) add_as_line(coder);
    const Status status = run();
    consider(last_);
    return status;
  }

  // Whether `ans` leaves away enough of the array for its time: of values, and of their differences
  // along the stride that was found.
  Status compare_slow(const AutomaticTerms& terms, double times_slower) {
    const std::span<const Coder> all = automatic_candidates(array_.dtype);
    const bool stays_raw = best_share_ * std::max(1.0, terms.least_ratio) > 1;
    const double needed = (times_slower - (stays_raw ? 0 : 1)) * terms.codec_share;
    if (all.empty() || needed >= kMostNeeded) return {};
    const codec::Codec& slow = *all.back().codec;
    static const codec::Option of_values{"tuple", "0"};
    const std::size_t stride = best_.coder.codec == nullptr ? 1 : stride_of(best_.coder);
    std::array<Trial, 2> trials{};
    trials[0] = {coder_of(slow, {&of_values, 1}), &runs_};
    trials[1] = {by_stride(slow)[stride - 1], &runs_};
    for (const Trial& trial : trials) {
      if (!bound(trial.coder, runs_.array).ok()) return {};
    }
    if (Status status = try_all(trials, source_, stream_); !status.ok()) return status;
    const Trial& least = trials[trials[1].bytes < trials[0].bytes];
    if (least.share() + needed >= (stays_raw ? 1 : best_share_)) return {};
    best_ = least;
    best_share_ = least.share();
    return {};
  }

  // Of all; no codec where nothing was tried.
  const Trial& best() const { return best_; }
  double best_share() const { return best_share_; }

 private:
  void add(const Coder& coder) {
    const Sample& sample = sees_axes(coder, array_) ? *boxes_ : runs_;
    if (bound(coder, sample.array).ok()) trials_[count_++] = {coder, &sample};
  }

  void add_as_line(Coder coder) {
    coder.as_line = !coder.codec->flat && has_axes(array_.shape);
    add(coder);
  }

  // From wide strides down to the least that does not lose.
  Status find_stride() {
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

  // What there is of one byte of the array. The first values of each run of a sample have others a
  // stride before them than in the array; half of what that may cost is taken off, and never more
  // than half of all.
  double share_of(const Trial& trial) const {
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

  Status run() {
    const std::span<Trial> tried(trials_.data(), std::exchange(count_, 0));
    if (Status status = try_all(tried, source_, stream_); !status.ok()) return status;
    last_ = {};
    for (const Trial& trial : tried) {
      // Of the candidates that take strides the last one, which takes the most.
      const bool is_single = stride_of(trial.coder) == 1;
      if (is_single && trial.sample == &runs_ && by_stride(*trial.coder.codec).size() > 1) {
        line_ = trial;
      }
      if (last_.coder.codec == nullptr || share_of(trial) < share_of(last_)) last_ = trial;
      if (is_single || trial.coder.codec != line_.coder.codec) consider(trial);
    }
    return {};
  }

  void consider(const Trial& trial) {
    if (trial.coder.codec == nullptr || share_of(trial) >= best_share_) return;
    best_ = trial;
    best_share_ = share_of(trial);
  }

  const codec::Chunk& array_;
  const std::byte* source_;
  device::StreamHandle stream_;
  std::optional<Sample> boxes_;  // one codec alone sees axes
  Sample runs_;
  std::array<Trial, kMostTrials> trials_{};
  std::size_t count_ = 0;
  Trial best_{}, last_{};  // of all, and of the last run
  double best_share_ = std::numeric_limits<double>::infinity();
  Trial line_{};  // of the codec that is tried with strides, without one
};

}  // namespace

std::span<const Coder> automatic_candidates(Dtype dtype) {
  static const std::array<std::vector<Coder>, kDtypeCount> all = {
      coders({}),
      coders({"lorenzo", "expack", "mpc", "ans"}),
      coders({"lorenzo", "mpc", "ans"}),
      coders({"expack", "lorenzo", "ans"}),
      coders({"expack", "lorenzo", "ans"}),
      coders({"expack", "ans"}),
      coders({"expack", "ans"})};
  return all[static_cast<std::size_t>(dtype)];
}

bool may_choose(const codec::Codec& codec) {
  for (int dtype = 0; dtype < kDtypeCount; ++dtype) {
    for (const Coder& coder : automatic_candidates(static_cast<Dtype>(dtype))) {
      if (coder.codec == &codec) return true;
    }
  }
  return false;
}

AutomaticTerms terms_of(double least_ratio) {
  if (!(least_ratio > 0)) return {};
  return {.least_ratio = least_ratio, .codec_share = least_ratio > 1 ? 1 - 1 / least_ratio : 0};
}

Result<AutomaticChoice> choose_automatically(const codec::Chunk& array, const std::byte* source,
                                             const AutomaticTerms& terms,
                                             device::StreamHandle stream) {
  AutomaticChoice choice{.coder = raw_coder()};
  if (array.shape.count() == 0 || automatic_candidates(array.dtype).empty()) return choice;
  const auto place = device::place_of(source);
  if (!place.ok()) return place.status();
  Comparison comparison(array, source, stream);
  Status status = comparison.compare();
  if (status.ok()) {
    status = comparison.compare_slow(
        terms, place->on_device() ? kTimesSlowerOnDevice : kTimesSlowerOnHost);
  }
  if (!status.ok()) return status;
  const Trial& best = comparison.best();
  if (best.coder.codec == nullptr) return choice;
  choice.ratio = 1 / comparison.best_share();
  if (choice.ratio > 1 && choice.ratio >= terms.least_ratio) choice.coder = best.coder;
  return choice;
}

Result<std::uint64_t> encode_automatically(const codec::Chunk& array, const std::byte* source,
                                           MutableByteView destination, const AutomaticTerms& terms,
                                           const EncodeOptions& options) {
  auto most = automatic_bound(array);
  if (!most.ok()) return most.status();
  if (Status status = check_capacity(*most, destination.size()); !status.ok()) return status;
  const auto choice = choose_automatically(array, source, terms, options.stream);
  if (!choice.ok()) return choice.status();
  return encode(choice->coder, array, source, destination, options);
}

Coder automatic_in_stream(const codec::Chunk& array) {
  for (const Coder& coder : fast_candidates(array.dtype)) {
    if (bound(coder, array).ok()) return coder;
  }
  return raw_coder();
}

Result<std::uint64_t> automatic_bound(const codec::Chunk& array) {
  auto most = bound(raw_coder(), array);
  const auto admit = [&](const Coder& coder) {
    // A candidate that does not take the array, or cannot frame it, is not chosen. Strides change
    // no bound.
    if (const auto own = bound(coder, array); most.ok() && own.ok()) most = std::max(*most, *own);
  };
  for_each_way(array, admit);
  for (const Coder& coder : automatic_candidates(array.dtype)) admit(coder);
  return most;
}

}  // namespace thinwire::message
