#include "message/automatic.h"

#include <algorithm>
#include <array>
#include <vector>

#include "codec/registry.h"
#include "device/pool.h"
#include "message/host.h"
#include "message/trial.h"

namespace thinwire::message {
namespace {

// A share of the array within these; whole where that is less. All candidates on a 64th each take a
// small part of the time in which one of them encodes the array.
constexpr std::uint64_t kLeastSample = 16 * 1024;
constexpr std::uint64_t kMostSample = 1024 * 1024;
constexpr std::uint64_t kSampleShare = 64;

// Planes of a volume, at least: prediction wants neighbours on all axes.
constexpr std::uint64_t kLeastPlanes = 4;

std::vector<Coder> coders(std::initializer_list<const char*> names) {
  std::vector<Coder> found;
  for (const char* name : names) {
    const codec::Codec* codec = codec::find_codec(name);
    if (codec == nullptr) continue;
    const auto parameter = codec->parse({});
    if (parameter.ok()) found.push_back({codec, *parameter});
  }
  return found;
}

struct Sample {
  codec::Chunk array;
  std::uint64_t offset;
};

Sample sample_of(const codec::Chunk& array) {
  Sample sample{array, 0};
  const std::uint64_t planes = array.shape.extent[0];
  if (planes == 0) return sample;
  const std::uint64_t plane_bytes = array.raw_bytes() / planes;
  const std::uint64_t wanted =
      std::clamp(array.raw_bytes() / kSampleShare, kLeastSample, kMostSample);
  std::uint64_t taken = std::max<std::uint64_t>(1, wanted / plane_bytes);
  if (array.shape.rank > 1) taken = std::max(taken, kLeastPlanes);
  taken = std::min(taken, planes);
  sample.array.shape.extent[0] = taken;
  sample.offset = (planes - taken) / 2 * plane_bytes;
  return sample;
}

// What would not shrink takes the bytes of the sample itself.
Status try_on_host(std::span<Trial> trials, const codec::Chunk& sample, const std::byte* source,
                   MutableByteView scratch) {
  EncodeOptions options;
  options.decline = true;
  options.chunk_checksums = false;
  for (Trial& trial : trials) {
    const auto written = encode_on_host(trial.coder, sample, source, scratch, options);
    trial.bytes = written.ok() ? *written : sample.raw_bytes();
    if (!written.ok() && !is_declined(written.status().code())) return written.status();
  }
  return {};
}

}  // namespace

std::span<const Coder> automatic_candidates(Dtype dtype) {
  static const std::array<std::vector<Coder>, kDtypeCount> all = {
      coders({}), coders({"lorenzo", "expack"}), coders({"lorenzo", "mpc"}),
      coders({"expack", "lorenzo"}), coders({"expack", "lorenzo"})};
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
                                             double least_ratio, MutableByteView scratch,
                                             device::StreamHandle stream) {
  AutomaticChoice choice{.coder = raw_coder()};
  if (array.shape.count() == 0) return choice;
  const Sample sample = sample_of(array);
  const std::byte* const from = source + sample.offset;
  const auto place = device::place_of(source);
  if (!place.ok()) return place.status();
  std::array<Trial, kMostTrials> trials;
  std::size_t count = 0;
  for (const Coder& coder : automatic_candidates(array.dtype)) {
    if (bound(coder, sample.array).ok()) trials[count++] = {coder, 0};
  }
  const std::span<Trial> tried(trials.data(), count);
  Status status = place->on_device()
                      ? try_on_device(tried, sample.array, from, place->device, stream)
                      : try_on_host(tried, sample.array, from, scratch);
  if (!status.ok()) return status;
  std::uint64_t least = sample.array.raw_bytes();
  for (const Trial& trial : tried) {
    if (trial.bytes >= least) continue;
    least = trial.bytes;
    choice.coder = trial.coder;
  }
  choice.ratio = static_cast<double>(sample.array.raw_bytes()) / static_cast<double>(least);
  if (choice.ratio < least_ratio) choice.coder = raw_coder();
  return choice;
}

Result<std::uint64_t> encode_automatically(const codec::Chunk& array, const std::byte* source,
                                           MutableByteView destination, double least_ratio,
                                           const EncodeOptions& options) {
  auto most = automatic_bound(array);
  if (!most.ok()) return most.status();
  if (Status status = check_capacity(*most, destination.size()); !status.ok()) return status;
  const auto to = device::place_of(destination.data());
  if (!to.ok()) return to.status();
  const auto from = device::place_of(source);
  if (!from.ok()) return from.status();
  device::Lease staged;
  MutableByteView scratch = destination;
  if (to->on_device() && !from->on_device()) {
    // What is sampled on the host is encoded there, and no more than the sample.
    const auto sampled = automatic_bound(sample_of(array).array);
    if (!sampled.ok()) return sampled.status();
    auto pinned = device::acquire_pinned(*sampled);
    if (!pinned.ok()) return pinned.status();
    staged = std::move(*pinned);
    scratch = {staged.data(), *sampled};
  }
  const auto choice = choose_automatically(array, source, least_ratio, scratch, options.stream);
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
  for (const Coder& coder : automatic_candidates(array.dtype)) {
    // A candidate that does not take the array, or cannot frame it, is not chosen.
    if (const auto own = bound(coder, array); most.ok() && own.ok()) most = std::max(*most, *own);
  }
  return most;
}

}  // namespace thinwire::message
