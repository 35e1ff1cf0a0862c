#include "shim/mpi/collective/agreed_facts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "shim/mpi/choose/link_rate.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

const tw_codec* uncompressed() {
  static const tw_codec* const off = [] {
    tw_codec* made = nullptr;
    tw_codec_create("off", &made);
    return made;
  }();
  return off;
}

constexpr Signature kKinds[] = {kOfF32,    kOfF64,    kOfOthers, kOfWords1,
                                kOfWords2, kOfWords4, kOfWords8};
constexpr int kKindCount = std::size(kKinds);

}  // namespace

// Each kind that some rank has, as the largest of ones and zeros; and the largest size.
bool agree_on_signature(Part& part, CallQueue& queue) {
  float own[kKindCount + 1], all[kKindCount + 1] = {};
  for (int at = 0; at < kKindCount; ++at) own[at] = (part.signature & kKinds[at]) != 0 ? 1 : 0;
  own[kKindCount] = static_cast<float>(std::bit_width(part.bytes));
  tw_collective collective{};
  collective.size = sizeof collective;
  collective.operation = TW_ALLREDUCE;
  collective.dtype = TW_F32;
  collective.reduction = TW_MAXIMUM;
  collective.send = own;
  collective.receive = all;
  collective.count = std::size(own);
  collective.codec = uncompressed();
  collective.flags = TW_AS_AGREED;  // nothing is coded, and the program's thread may be planning
  Signature whole = kNothing;
  if (tw_comm_run(queue.comm(), &collective, nullptr) == TW_OK) {
    for (int at = 0; at < kKindCount; ++at) whole |= all[at] > 0 ? kKinds[at] : kNothing;
    part.largest_bits = static_cast<std::uint32_t>(all[kKindCount]);
  }
  part.is_open = false;
  return part.take(whole);
}

bool lies_on_one_node(const Collectives& kept) {
  return std::ranges::all_of(kept.nodes, [&](auto node) { return node == kept.nodes.front(); });
}

choose::LinkRate agree_on_link(const Collectives& kept) {
  const choose::LinkRate own =
      lies_on_one_node(kept) ? link_rate(TW_PEER_SAME_NODE) : link_rate_now();
  // The one minimum of both: rates are positive.
  const double mine[2] = {own.bytes_per_second > 0 ? own.bytes_per_second : HUGE_VAL,
                          -static_cast<double>(own.source)};
  double all[2] = {HUGE_VAL, 0};
  if (real().Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MIN, kept.own->comm()) != MPI_SUCCESS ||
      all[0] == HUGE_VAL) {
    return {};
  }
  return {all[0], static_cast<choose::RateSource>(static_cast<int>(-all[1]))};
}

double rate_for_plans(const Collectives& kept) {
  const Settings& settings = process().settings;
  return settings.plan.force != 0 ? settings.collectives.link_bytes_per_second
                                  : kept.link.bytes_per_second;
}

double rate_for_parts(const Collectives& kept) {
  return choose::is_vouched_for(kept.link) ? kept.link.bytes_per_second : 0;
}

// Often at first, as the first calls are what the connections can be measured by.
void agree_on_link_if_due(Collectives& kept) {
  constexpr std::uint64_t kUnknownPause = 2, kShortest = 8, kLongest = 64;
  if (kept.calls < kept.next_agreement || process().settings.plan.force != 0) return;
  kept.link = agree_on_link(kept);
  const bool is_known = kept.link.bytes_per_second > 0;
  kept.next_agreement =
      kept.calls + (is_known ? std::clamp(kept.calls / 4, kShortest, kLongest) : kUnknownPause);
  tw_comm_set_link(kept.queue.comm(), rate_for_plans(kept));
  kept.queue.set_rate(rate_for_parts(kept));
}

}  // namespace thinwire::mpi
