#include "observe/count.h"

#include <algorithm>
#include <cstring>

#include "native/call_native.h"
#include "state/communicators.h"
#include "state/policy.h"
#include "state/reason.h"

namespace thinwire::nccl {

void count(const Count& call) {
  const auto add = [](std::atomic<std::uint64_t>& to, std::uint64_t more) {
    to.fetch_add(more, std::memory_order_relaxed);
  };
  Counters& of = call.communicator->of[call.operation];
  add(of.calls, 1);
  add(of.bytes, call.bytes);
  add(of.wire_bytes, call.wire_bytes);
  count_by_rule(call.rule, call.bytes, call.wire_bytes, call.reason == 0);
  add(call.reason == 0 ? of.compressed : of.raw[call.reason], 1);
  if (call.reason == 0) {
    add(of.compressed_bytes, call.bytes);
    add(of.compressed_wire_bytes, call.wire_bytes);
  }
  if (call.order == Order::kOfRanks) add(of.in_rank_order, 1);
  if (call.order == Order::kOfNccl) add(of.out_of_rank_order, 1);
  if (is_traced()) trace_call(call);
}

}  // namespace thinwire::nccl

// Figures of the program's NCCL calls for tw_stats_read(). The core that a program calls is another
// copy than the one in here, and finds this function by its name.

using namespace thinwire::nccl;

namespace {

void add_messages(const Counters& of, tw_stats& stats) {
  stats.messages += of.calls;
  stats.compressed_messages += of.compressed;
  stats.bytes += of.bytes;
  stats.wire_bytes += of.wire_bytes;
  stats.compressed_bytes += of.compressed_bytes;
  stats.compressed_wire_bytes += of.compressed_wire_bytes;
}

void add_collectives(const Counters& of, tw_stats& stats) {
  stats.collectives += of.compressed;
  stats.native_collectives += of.calls - of.compressed;
  stats.collective_bytes += of.compressed_bytes;
  stats.collective_wire_bytes += of.compressed_wire_bytes;
}

tw_stats stats_now() {
  tw_stats stats{};
  const Reading reading;
  for (const Communicator* each : reading.all) {
    for (int operation = 0; operation < kOperations; ++operation) {
      if (operation == kRecv) continue;
      const Counters& of = each->of[static_cast<std::size_t>(operation)];
      operation == kSend ? add_messages(of, stats) : add_collectives(of, stats);
    }
  }
  return stats;
}

void add_reasons(std::uint64_t* raw, std::uint32_t reasons) {
  const Reading reading;
  for (const Communicator* each : reading.all) {
    for (std::uint32_t why = 1; why < reasons && why < TW_REASON_COUNT; ++why) {
      raw[why] += each->of[kSend].raw[why];
    }
  }
}

}  // namespace

// Fills as many bytes of `stats` as its size says, also of an older or a later version's.
THINWIRE_EXPORTED tw_status tw_nccl_preload_stats(tw_stats* stats, std::uint64_t* raw,
                                                  std::uint32_t reasons) {
  const bool is_whole = allowed([&] {
    if (stats != nullptr) {
      tw_stats now = stats_now();
      now.size = stats->size;
      std::memcpy(stats, &now, std::min<std::size_t>(stats->size, sizeof now));
    }
    if (raw != nullptr) add_reasons(raw, reasons);
  });
  return is_whole ? TW_OK : TW_INTERNAL;
}
