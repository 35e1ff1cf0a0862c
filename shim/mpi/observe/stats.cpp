// The core that a program calls is another copy than the one in here, and finds these functions by
// their names.
#include "shim/mpi/observe/stats.h"

#include <algorithm>
#include <cstring>

#include "shim/mpi/observe/report.h"
#include "shim/mpi/observe/trace.h"
#include "shim/mpi/state/state.h"

using namespace thinwire::mpi;

tw_stats thinwire::mpi::stats_now() {
  const Totals totals = own_totals();
  tw_stats stats{};
  stats.messages = totals.compressed_messages;
  for (int reason = 1; reason < TW_REASON_COUNT; ++reason) {
    stats.messages += totals.raw_by_reason[reason];
  }
  stats.compressed_messages = totals.compressed_messages;
  stats.bytes = totals.raw_bytes + totals.compressed_bytes;
  stats.wire_bytes = totals.raw_bytes + totals.wire_bytes;
  stats.compressed_bytes = totals.compressed_bytes;
  stats.compressed_wire_bytes = totals.wire_bytes;
  stats.decoded_messages = totals.decoded_messages;
  stats.damaged_messages = totals.damaged_messages;
  stats.encode_nanoseconds = totals.encode_nanoseconds;
  stats.decode_nanoseconds = totals.decode_nanoseconds;
  stats.collectives = totals.collectives[TW_COMPRESS];
  for (int reason = 1; reason < kNativeReasons; ++reason) {
    stats.native_collectives += totals.collectives[reason];
  }
  stats.collective_bytes = totals.collective_raw_bytes;
  stats.collective_wire_bytes = totals.collective_wire_bytes;
  stats.collective_nanoseconds = totals.collective_nanoseconds;
  const Counters& counters = process().counters;
  stats.predicted_nanoseconds =
      counters.predicted_nanoseconds + counters.predicted_of_raw_nanoseconds;
  stats.predicted_raw_nanoseconds =
      counters.predicted_raw_nanoseconds + counters.predicted_of_raw_nanoseconds;
  stats.saved_nanoseconds = counters.saved_nanoseconds;
  stats.collective_saved_nanoseconds = counters.collective_saved_nanoseconds;
  stats.messages_without_memory = totals.messages_without_memory;
  stats.device_failures = totals.device_failures;
  stats.pool_peak_bytes = totals.host_pool.peak_bytes + totals.pinned_pool.peak_bytes;
  return stats;
}

// Fills as many bytes of `stats` as its size says, also of an older or a later version's.
extern "C" tw_status tw_preload_stats(tw_stats* stats, std::uint64_t* raw, std::uint32_t reasons) {
  if (stats != nullptr) {
    tw_stats now = stats_now();
    now.size = stats->size;
    std::memcpy(stats, &now, std::min<std::size_t>(stats->size, sizeof now));
  }
  if (raw == nullptr) return TW_OK;
  const Totals totals = own_totals();
  for (std::uint32_t reason = 1; reason < reasons && reason < TW_REASON_COUNT; ++reason) {
    raw[reason] = totals.raw_by_reason[reason];
  }
  return TW_OK;
}

// How many kinds there are, or the one of that number.
extern "C" tw_status tw_preload_stats_kinds(const std::uint32_t* number, std::uint32_t* kinds,
                                            tw_stats_kind* kind) {
  if (number != nullptr) {
    tw_stats_kind now{};
    if (!read_kind(*number, now)) return TW_INVALID_ARGUMENT;
    now.size = kind->size;
    std::memcpy(kind, &now, std::min<std::size_t>(kind->size, sizeof now));
    return TW_OK;
  }
  count_kinds();
  *kinds = kinds_so_far();
  return TW_OK;
}
