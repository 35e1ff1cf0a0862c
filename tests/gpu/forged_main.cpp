// Forged frames, slots and differences on a GPU against the same ones on the host: of every codec
// and type of the registry, with right checksums. Exit code 0 if all agree, 1 if one does
// not, 77 if there is no GPU. With the argument "host" both sides are the host; with "small"
// there are few, for tools under which kernels run slowly.
#include <cstdio>
#include <string_view>
#include <vector>

#include "codec/registry.h"
#include "codec/spec.h"
#include "compared_program.h"
#include "forged_frames.h"
#include "forged_messages.h"
#include "slots_tally.h"

namespace thinwire::collective {
namespace {

constexpr std::uint64_t kCount = 3001;  // elements of a block
constexpr int kSteps = 6;

struct Extent {
  std::uint64_t frames = 500;  // of each codec and type
  int times = 2;               // that an operation is done without references
};

FrameTally compare_frames(Where where, std::uint64_t runs) {
  FrameTally all;
  ForgedFrames frames(where);
  for (fuzz::Origin& origin : fuzz::make_origins()) {
    const FrameTally tally = frames.run(origin, runs);
    all.same += tally.same;
    all.different += tally.different;
    all.decoded += tally.decoded;
  }
  return all;
}

struct SlotTally {
  std::uint64_t same = 0, different = 0, refused = 0, other_codes = 0, difference_bytes = 0;
};

void compare_slots(Where where, Case given, std::uint64_t seed, SlotTally& tally) {
  given.change = [seed, mark = given.call.mark](MutableByteView message, int from, int to,
                                                int number) {
    forge(seed, mark, message, from, to, number);
  };
  const auto expected = run_on(Where::kHost, given, given.host_references);
  const auto found = run_on(where, given, given.other_references);
  for (std::size_t rank = 0; rank < expected.size(); ++rank) {
    const Status &host = expected[rank].report.status, &other = found[rank].report.status;
    const bool agrees = host.ok() == other.ok() && expected[rank].values == found[rank].values;
    ++(agrees ? tally.same : tally.different);
    if (!host.ok()) ++tally.refused;
    if (host.code() != other.code()) ++tally.other_codes;
    tally.difference_bytes += found[rank].report.difference_bytes;
    if (agrees) continue;
    std::printf("FAILED %s, dtype %d, operation %d, seed %llu\n", given.call.spec.text().c_str(),
                static_cast<int>(given.call.dtype), static_cast<int>(given.call.operation),
                static_cast<unsigned long long>(seed));
    tell(static_cast<int>(rank), expected[rank], found[rank]);
  }
}

// Calls whose values hardly change from one to the next; from the second on messages are forged.
void compare_differences(Where where, Case given, std::uint64_t seed, SlotTally& tally) {
  const RoomsOfReferences rooms(where, given, 1 << 20);
  for (given.step = 0; given.step < kSteps; ++given.step) {
    if (given.step == 0) {
      run_on(Where::kHost, given, given.host_references);
      run_on(where, given, given.other_references);
    } else {
      compare_slots(where, given, seed + static_cast<std::uint64_t>(given.step), tally);
    }
  }
}

void compare_codec(Where where, const codec::Codec& codec, const Extent& extent,
                   std::uint64_t& seed, SlotTally& tally) {
  for (int dtype = 1; dtype < kDtypeCount; ++dtype) {
    if (!codec.takes(static_cast<Dtype>(dtype))) continue;
    Case given;
    given.call.spec = *codec::parse_spec(codec.example);
    given.call.dtype = static_cast<Dtype>(dtype);
    given.call.ranks = 3;
    given.call.count = kCount;
    given.call.capacity = {512, 0};
    for (const auto operation :
         {SlotOperation::kAllgather, SlotOperation::kBcast, SlotOperation::kAllreduce}) {
      given.call.operation = operation;
      if (given.call.reduces() && !is_added(given.call.dtype)) continue;
      for (int again = 0; again < extent.times; ++again) {
        compare_slots(where, given, seed += 16, tally);
      }
      const bool keeps = codec.lossless && !given.call.reduces();
      if (keeps) compare_differences(where, given, seed += 16, tally);
    }
  }
}

int run(Where where, const Extent& extent) {
  const FrameTally frames = compare_frames(where, extent.frames);
  SlotTally slots;
  std::uint64_t seed = 1;
  for (const codec::Codec* codec : codec::all_codecs()) {
    if (codec->gpu_only || codec == &codec::raw_codec()) continue;
    compare_codec(where, *codec, extent, seed, slots);
  }
  std::printf(
      "%llu forged frames (%llu decoded) and %llu results of forged slots (%llu refused, %llu with "
      "another error, %llu bytes as differences) agree, %llu do not\n",
      static_cast<unsigned long long>(frames.same), static_cast<unsigned long long>(frames.decoded),
      static_cast<unsigned long long>(slots.same), static_cast<unsigned long long>(slots.refused),
      static_cast<unsigned long long>(slots.other_codes),
      static_cast<unsigned long long>(slots.difference_bytes),
      static_cast<unsigned long long>(frames.different + slots.different));
  const bool has_all = frames.decoded > frames.same / 20 && frames.decoded < frames.same &&
                       slots.refused > slots.same / 10 && slots.refused < slots.same &&
                       slots.difference_bytes > 0;
  return frames.different + slots.different == 0 && has_all ? 0 : 1;
}

}  // namespace
}  // namespace thinwire::collective

int main(int count, char** arguments) {
  using thinwire::collective::Where;
  const std::string_view word = count > 1 ? arguments[1] : "";
  thinwire::collective::Extent extent;
  if (word == "small") extent = {40, 1};
  return thinwire::collective::run_compared(
      word, [&](Where where) { return thinwire::collective::run(where, extent); });
}
