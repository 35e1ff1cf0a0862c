#include "message/automatic.h"

#include <algorithm>
#include <array>
#include <vector>

#include "codec/registry.h"
#include "message/comparison.h"
#include "message/host.h"
#include "message/sample.h"
#include "message/strides.h"

namespace thinwire::message {
namespace {

std::vector<Coder> tried_on(Dtype dtype) {
  const auto place = [dtype](const Coder& coder) {
    return coder.codec->place_in_auto[static_cast<std::size_t>(dtype)];
  };
  std::vector<Coder> found;
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (place({codec, 0}) != 0) found.push_back(coder_of(*codec));
  }
  std::ranges::sort(found, {}, place);
  return found;
}

}  // namespace

std::span<const Coder> automatic_candidates(Dtype dtype) {
  // Never ends, as programs may send from functions that run at exit.
  static const auto& all = *[] {
    auto* const of_dtypes = new std::array<std::vector<Coder>, kDtypeCount>;
    for (std::size_t each = 0; each < kDtypeCount; ++each) {
      (*of_dtypes)[each] = tried_on(static_cast<Dtype>(each));
    }
    return of_dtypes;
  }();
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
  Comparison comparison(array, source, stream);
  Status status = comparison.compare();
  if (status.ok()) status = comparison.compare_slow(terms);
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

Result<double> foreseen_share(const codec::Spec& spec, const codec::Chunk& array,
                              const std::byte* source, double least_ratio) {
  if (spec.kind == codec::Spec::Kind::kAuto) {
    const auto choice = choose_automatically(array, source, {.least_ratio = least_ratio}, nullptr);
    if (!choice.ok()) return choice.status();
    return choice->ratio > 1 && choice->ratio >= least_ratio ? 1 / choice->ratio : 1.0;
  }
  const Coder coder{spec.codec, spec.parameter};
  const bool in_boxes = !coder.codec->flat && array.shape.rank > 1;
  const Sample sample = in_boxes ? sample_boxes(array, coder) : sample_runs(array);
  Trial trial{coder, &sample};
  if (Status status = try_all({&trial, 1}, source, nullptr); !status.ok()) return status;
  return std::min(trial.share(), 1.0);
}

}  // namespace thinwire::message
