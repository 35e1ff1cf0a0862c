#include "message/automatic.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "codec/registry.h"
#include "message/host.h"
#include "message/trial.h"

namespace thinwire::message {
namespace {

Coder coder_of(const codec::Codec& codec, std::span<const codec::Option> options) {
  const auto parameter = codec.parse(options);
  return {&codec, parameter.ok() ? *parameter : 0};
}

std::vector<Coder> coders(std::initializer_list<const char*> names) {
  std::vector<Coder> found;
  for (const char* name : names) {
    const codec::Codec* codec = codec::find_codec(name);
    if (codec != nullptr) found.push_back(coder_of(*codec, {}));
  }
  return found;
}

// Of values that come in tuples: the strides in which they may return.
std::vector<Coder> strides(const char* name, const char* key,
                           std::initializer_list<const char*> values) {
  std::vector<Coder> found;
  const codec::Codec* codec = codec::find_codec(name);
  if (codec == nullptr) return found;
  for (const char* value : values) {
    const codec::Option option{key, value};
    found.push_back(coder_of(*codec, {&option, 1}));
  }
  return found;
}

std::span<const Coder> strides_of(const codec::Codec& codec) {
  static const std::array<std::vector<Coder>, 2> all = {
      strides("lorenzo", "tuple", {"2", "3"}), strides("mpc", "stride", {"2", "3", "4", "6"})};
  for (const std::vector<Coder>& of_codec : all) {
    if (!of_codec.empty() && of_codec[0].codec == &codec) return of_codec;
  }
  return {};
}

// A codec is tried with strides where it is at most so much behind: values in tuples are what it
// may be behind for.
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
    if (Status status = run(); !status.ok()) return status;
    if (with_strides_.coder.codec == nullptr ||
        with_strides_.share() * kNearlyBest > best_.share()) {
      return {};
    }
    const bool as_line = with_strides_.coder.as_line;
    for (Coder coder : strides_of(*with_strides_.coder.codec)) {
      coder.as_line = as_line;
      add(coder);
    }
    return run();
  }

  // Of all; no codec where nothing was tried.
  const Trial& best() const { return best_; }

 private:
  void add(const Coder& coder) {
    const Sample& sample = sees_axes(coder, array_) ? *boxes_ : runs_;
    if (bound(coder, sample.array).ok()) trials_[count_++] = {coder, &sample};
  }

  Status run() {
    const std::span<Trial> tried(trials_.data(), std::exchange(count_, 0));
    if (Status status = try_all(tried, source_, stream_); !status.ok()) return status;
    for (const Trial& trial : tried) {
      if (best_.coder.codec == nullptr || trial.share() < best_.share()) best_ = trial;
      const bool may_stride = trial.sample == &runs_ && !strides_of(*trial.coder.codec).empty();
      if (may_stride &&
          (with_strides_.coder.codec == nullptr || trial.share() < with_strides_.share())) {
        with_strides_ = trial;
      }
    }
    return {};
  }

  const codec::Chunk& array_;
  const std::byte* source_;
  device::StreamHandle stream_;
  std::optional<Sample> boxes_;  // one codec alone sees axes
  Sample runs_;
  std::array<Trial, kMostTrials> trials_{};
  std::size_t count_ = 0;
  Trial best_{}, with_strides_{};
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
  choice.ratio = 1 / best.share();
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
