#include "run/prediction.h"

#include <algorithm>

#include "choose/slots_gain.h"
#include "state/reason.h"

namespace thinwire::nccl {
namespace {

// The most that dense floats get smaller, and what is lossy.
constexpr double kHopedRatio = 2, kHopedOfLossy = 16;

// Bytes of one rank's values, of the communicator's ranks and of those on this host, all and those
// with peers.
struct Sizes {
  double bytes, all, mates, senders;
  double others() const { return all - mates; }
  // A block that each rank has for each other leaves its host so often.
  double leaving() const { return all > 1 ? others() / (all - 1) : 1; }
};

// The bytes that NCCL's rings, trees and messages bring over a host's link, one way.
double native_bytes(Operation operation, const Sizes& of) {
  switch (operation) {
    case kAllReduce:
      return 2 * of.bytes * (of.all - 1) / of.all;
    case kReduceScatter:
    case kAllGather:
      return of.bytes * (of.all - 1);
    case kAlltoAll:
      return of.bytes * of.others() * of.mates;
    case kGather:
    case kScatter:
      return of.bytes * of.others();
    default:
      return of.bytes;
  }
}

choose::SlotsWork work_of(const Call& call, const tw_stream_plan_info* info, const Sizes& of) {
  choose::SlotsWork work;
  work.native = work.coded = native_bytes(call.operation, of);
  work.encoded = work.decoded = of.bytes;
  work.launches = work.messages = 1;
  if (info == nullptr) return work;
  const auto sent = static_cast<double>(info->raw_bytes);
  // Slots for other hosts leave this one from all of its ranks; NCCL's own gather goes round once.
  // An AllReduce in one level does half of its work each way.
  const bool are_messages = info->messages > 0 && !call.is_exchange();
  if (are_messages && info->in_levels != 0) {
    const bool is_of_ranks = call.operation == kAllGather || call.operation == kReduceScatter;
    work.coded = sent * (is_of_ranks ? of.mates : of.senders);
  } else if (are_messages && call.operation == kAllReduce && info->way == TW_STREAM_DIRECT) {
    work.coded = sent / 2 * (1 + of.mates * of.leaving());
  } else if (are_messages) {
    work.coded = sent * of.mates * of.leaving();
  }
  // In place of NCCL's own it is the same call without a codec.
  if (call.is_ordered) work.native = work.coded;
  work.decoded = std::max(sent, of.bytes);
  work.launches = static_cast<double>(info->launches);
  work.messages = static_cast<double>(info->messages);
  return work;
}

}  // namespace

int why_not_tried(const Call& call, std::uint64_t bytes, const Plan* plan, const CodecUse& use,
                  const RankNodes& hosts, int rank, int ranks) {
  if (settings().force) return 0;
  const tw_stream_plan_info* const info = plan == nullptr ? nullptr : &plan->info;
  const bool is_large =
      info != nullptr && (info->launches > choose::kMostSteps || info->peers > choose::kMostPeers);
  if (!use.goes_by_machine && !is_large) return 0;
  int mates = 1;
  for (int other = 0; other < ranks; ++other) {
    if (other != rank && hosts.are_together(rank, other)) ++mates;
  }
  const bool inside = call.is_message() ? hosts.are_together(rank, call.peer) : hosts.are_one();
  const double of_machine =
      inside ? 0 : tw_link_of_nccl(static_cast<std::uint32_t>(call.is_message() ? 1 : mates));
  const double link = settings().link > 0 ? settings().link : of_machine;
  if (link <= 0 && use.goes_by_machine) return TW_RAW_NO_LINK;
  const Sizes sizes{static_cast<double>(bytes), static_cast<double>(ranks),
                    static_cast<double>(mates),
                    static_cast<double>(std::min(mates, hosts.columns()))};
  const double ratio = use.lossless ? kHopedRatio : kHopedOfLossy;
  if (choose::hoped_gain_seconds(work_of(call, info, sizes), link, ratio) > 0) return 0;
  return is_large ? int{kManySteps} : int{TW_RAW_LINK_FASTER};
}

}  // namespace thinwire::nccl
