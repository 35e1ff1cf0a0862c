// Collectives in slots on a GPU against the same ones on the host, bit by bit: results, and what
// each rank's record says. All ranks are on one GPU. Exit code 0 if all agree, 1 if one does
// not, 77 if there is no GPU. With the argument "host" both sides are the host; with "small"
// there are few cases, for tools under which kernels run slowly, with "least" fewer still; with a
// codec's spec it alone is run.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "codec/spec.h"
#include "compared_program.h"
#include "slots_runs.h"
#include "slots_tally.h"

namespace thinwire::collective {
namespace {

struct Extent {
  std::vector<const char*> specs{"mpc",
                                 "expack",
                                 "lorenzo",
                                 "szp:abs=1e-3",
                                 "zfp:rate=12",
                                 "szp:allreduce-abs=1e-2",
                                 "szp:allreduce-rel=1e-3"};
  std::vector<int> ranks{2, 3};
  std::vector<std::uint64_t> counts{1, 999, 40'003};
  std::uint64_t aligned_count = 40'960;  // of calls with references, whose arrays are aligned then
};

void compare_all(Where where, std::string_view spec, const Extent& extent, Tally& tally) {
  Case given;
  given.call.spec = *codec::parse_spec(spec);
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBf16, Dtype::kE4m3, Dtype::kE5m2}) {
    if (!given.call.spec.codec->takes(dtype)) continue;
    given.call.dtype = dtype;
    for (std::uint32_t operation = 0; operation < kSlotOperationCount; ++operation) {
      given.call.operation = static_cast<SlotOperation>(operation);
      if (given.call.operation == SlotOperation::kReceive) continue;  // with Send
      if (given.call.spec.reductions_alone && !given.call.reduces()) continue;
      if (given.call.reduces() && !is_added(dtype)) continue;
      const bool pair = given.call.operation == SlotOperation::kSend;
      for (const int ranks : extent.ranks) {
        if (pair && ranks != extent.ranks.front()) continue;
        given.call.ranks = pair ? 2 : ranks;
        given.call.scale = 1.0 / given.call.ranks;
        for (const std::uint64_t count : extent.counts) {
          given.call.count = count;
          const bool bounded = given.call.spec.result_bound.exists();
          given.call.premultiplied = given.call.reduces() && count != 1 && !bounded;
          for (const std::uint32_t capacity : {512, 400, 1}) {
            given.call.capacity = {capacity, 0};
            given.noisy = capacity == 400;
            given.offset = count % 5;
            given.in_place = !pair && capacity == 400;
            tally.compare(where, given, spec);
          }
        }
      }
    }
  }
}

// Ranks that share nodes: in two levels, and in one if nodes differ in size, but sums of arrays.
void compare_nodes(Where where, std::string_view spec, const Extent& extent, Tally& tally) {
  using Layout = std::vector<std::uint32_t>;
  Case given;
  given.call.spec = *codec::parse_spec(spec);
  for (const Layout& layout : {Layout{0, 0, 1, 1}, {0, 0, 1, 1, 2, 2}, {0, 1, 1, 0, 1}}) {
    given.call.nodes = std::make_shared<const SlotNodes>(layout);
    given.call.ranks = given.call.nodes->ranks();
    given.call.scale = 1.0 / given.call.ranks;
    for (const Dtype dtype : {Dtype::kF32, Dtype::kBf16, Dtype::kE4m3}) {
      if (!given.call.spec.codec->takes(dtype)) continue;
      given.call.dtype = dtype;
      for (std::uint32_t operation = 0; operation < kSlotOperationCount; ++operation) {
        given.call.operation = static_cast<SlotOperation>(operation);
        const bool pair = given.call.operation == SlotOperation::kSend;
        if (pair || given.call.operation == SlotOperation::kReceive) continue;
        if (given.call.spec.reductions_alone && !given.call.reduces()) continue;
        if (given.call.reduces() && !is_added(dtype)) continue;
        for (const std::uint64_t count : extent.counts) {
          given.call.count = count;
          given.call.way = given.call.sums_whole_arrays() ? SlotWay::kDirect : SlotWay::kPlanned;
          const bool bounded = given.call.spec.result_bound.exists();
          given.call.premultiplied = given.call.reduces() && count == 999 && !bounded;
          for (const std::uint32_t capacity : {512, 400, 1}) {
            given.call.capacity = {capacity, 0};
            given.noisy = capacity == 400;
            given.offset = count % 5;
            given.in_place = capacity == 400;
            tally.compare(where, given, spec);
          }
        }
      }
    }
  }
}

// Blocks of a gather that are packed for the ranks of a node, which are many nodes' alone.
void compare_packed(Where where, std::string_view spec, Tally& tally) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < 34; ++rank) nodes.push_back(rank / 2);
  Case given;
  given.call.spec = *codec::parse_spec(spec);
  if (given.call.spec.reductions_alone || !given.call.spec.codec->takes(Dtype::kF32)) return;
  given.call.operation = SlotOperation::kAllgather;
  given.call.nodes = std::make_shared<const SlotNodes>(nodes);
  given.call.ranks = given.call.nodes->ranks();
  for (const std::uint32_t capacity : {512, 1}) {
    given.call.count = capacity == 1 ? 33 : 200;
    given.call.capacity = {capacity, 0};
    given.offset = given.call.count % 5;
    given.in_place = capacity == 1;
    tally.compare(where, given, spec);
  }
}

// Five calls of each kind whose values hardly change from one to the next. Of the fourth a slot is
// damaged, if it is longer than the 512 bytes that are said of each block.
void compare_steps(Where where, Case given, std::string_view spec, Tally& tally) {
  const RoomsOfReferences rooms(where, given, 4 << 20);
  for (given.step = 0; given.step < 5; ++given.step) {
    given.damaged = given.step == 3;
    tally.compare(where, given, spec);
  }
}

void compare_references(Where where, std::string_view spec, const Extent& extent, Tally& tally) {
  Case given;
  given.call.spec = *codec::parse_spec(spec);
  if (!given.call.spec.codec->lossless) return;
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBf16, Dtype::kE4m3, Dtype::kE5m2}) {
    if (!given.call.spec.codec->takes(dtype)) continue;
    given.call.dtype = dtype;
    for (const auto operation : {SlotOperation::kAllgather, SlotOperation::kBcast}) {
      given.call.operation = operation;
      std::vector<std::uint64_t> counts = extent.counts;
      counts.push_back(extent.aligned_count);
      for (const std::uint64_t count : counts) {
        given.call.count = count;
        given.offset = count % 5;
        for (const std::uint32_t capacity : {512, 400, 1}) {
          given.call.capacity = {capacity, 0};
          given.noisy = capacity == 400;
          given.in_place = capacity == 400;
          given.call.ranks = extent.ranks.back();
          given.call.nodes = nullptr;
          compare_steps(where, given, spec, tally);
          given.call.nodes =
              std::make_shared<const SlotNodes>(std::vector<std::uint32_t>{0, 0, 1, 1});
          given.call.ranks = given.call.nodes->ranks();
          compare_steps(where, given, spec, tally);
        }
      }
    }
  }
}

// Messages whose bytes are no values of the type: each is spilled, whatever its frame would take.
void compare_as_is(Where where, std::string_view spec, const Extent& extent, Tally& tally) {
  Case given;
  given.call.spec = *codec::parse_spec(spec);
  if (given.call.spec.reductions_alone) return;
  given.call.operation = SlotOperation::kSend;
  given.call.ranks = 2;
  given.call.as_is = true;
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBf16}) {
    if (!given.call.spec.codec->takes(dtype)) continue;
    given.call.dtype = dtype;
    for (const std::uint64_t count : extent.counts) {
      given.call.count = count;
      given.offset = count % 5;
      for (const std::uint32_t capacity : {512, 1}) {
        given.call.capacity = {capacity, 0};
        const std::uint64_t spilled = tally.spilled;
        tally.compare(where, given, spec);
        if (tally.spilled != spilled + 1) {
          std::printf("FAILED %.*s: a message that goes as it is was not spilled\n",
                      static_cast<int>(spec.size()), spec.data());
          ++tally.different;
        }
      }
    }
  }
}

int run(Where where, const Extent& extent) {
  Tally tally;
  for (const char* const spec : extent.specs) {
    compare_all(where, spec, extent, tally);
    compare_nodes(where, spec, extent, tally);
    compare_packed(where, spec, tally);
    compare_as_is(where, spec, extent, tally);
    compare_references(where, spec, extent, tally);
  }
  std::printf(
      "%d collectives in slots agree, %d do not; %llu blocks were spilled, %llu bytes were "
      "differences, %d results damaged\n",
      tally.same, tally.different, static_cast<unsigned long long>(tally.spilled),
      static_cast<unsigned long long>(tally.difference_bytes), tally.damaged);
  const bool differs =
      extent.specs.size() == 1 || (tally.difference_bytes > 0 && tally.damaged > 0);
  const bool has_all = tally.same > 0 && tally.spilled > 0 && differs;
  return tally.different == 0 && has_all ? 0 : 1;
}

}  // namespace
}  // namespace thinwire::collective

int main(int count, char** arguments) {
  using thinwire::collective::Where;
  const std::string_view word = count > 1 ? arguments[1] : "";
  thinwire::collective::Extent extent;
  if (word == "small") extent = {{"mpc", "expack"}, {3}, {999, 5003}};
  if (word == "least") extent = {{"mpc"}, {2}, {33}, 2048};
  if (std::ranges::count(extent.specs, word) > 0) extent.specs = {arguments[1]};
  return thinwire::collective::run_compared(
      word, [&](Where where) { return thinwire::collective::run(where, extent); });
}
