#include "message/automatic.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "codec/registry.h"
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

bool has_axes(const Shape& shape) {
  return std::ranges::count_if(shape.extent.begin(), shape.extent.begin() + shape.rank,
                               [](std::uint64_t extent) { return extent > 1; }) > 1;
}

// Calls visit(coder) for each way in which a candidate may code the array.
template <typename Visit>
void for_each_way(const codec::Chunk& array, Visit&& visit) {
  for (const Coder& coder : automatic_candidates(array.dtype)) {
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
    for (const Coder& coder : automatic_candidates(array_.dtype)) {
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
      coders({"lorenzo", "expack", "mpc"}),
      coders({"lorenzo", "mpc"}),
      coders({"expack", "lorenzo"}),
      coders({"expack", "lorenzo"}),
      coders({"expack"}),
      coders({"expack"})};
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

Result<AutomaticChoice> choose_automatically(const codec::Chunk& array, const std::byte* source,
                                             double least_ratio, device::StreamHandle stream) {
  AutomaticChoice choice{.coder = raw_coder()};
  if (array.shape.count() == 0 || automatic_candidates(array.dtype).empty()) return choice;
  Comparison comparison(array, source, stream);
  if (Status status = comparison.compare(); !status.ok()) return status;
  const Trial& best = comparison.best();
  if (best.coder.codec == nullptr) return choice;
  choice.ratio = 1 / comparison.best_share();
  if (choice.ratio > 1 && choice.ratio >= least_ratio) choice.coder = best.coder;
  return choice;
}

Result<std::uint64_t> encode_automatically(const codec::Chunk& array, const std::byte* source,
                                           MutableByteView destination, double least_ratio,
                                           const EncodeOptions& options) {
  auto most = automatic_bound(array);
  if (!most.ok()) return most.status();
  if (Status status = check_capacity(*most, destination.size()); !status.ok()) return status;
  const auto choice = choose_automatically(array, source, least_ratio, options.stream);
  if (!choice.ok()) return choice.status();
  return encode(choice->coder, array, source, destination, options);
}

Coder automatic_in_stream(const codec::Chunk& array) {
  for (const Coder& coder : automatic_candidates(array.dtype)) {
    if (bound(coder, array).ok()) return coder;
  }
  return raw_coder();
}

Result<std::uint64_t> automatic_bound(const codec::Chunk& array) {
  auto most = bound(raw_coder(), array);
  for_each_way(array, [&](const Coder& coder) {
    // A candidate that does not take the array, or cannot frame it, is not chosen. Strides change
    // no bound.
    if (const auto own = bound(coder, array); most.ok() && own.ok()) most = std::max(*most, *own);
  });
  return most;
}

}  // namespace thinwire::message
