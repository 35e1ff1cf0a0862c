// What tw_stats_read() tells of the program's MPI calls. The core that a program calls is another
// copy than the one in here, and finds this function by its name.
#include <algorithm>
#include <cstring>

#include "process/process.h"
#include "process/report.h"

using namespace thinwire::mpi;

namespace {

tw_stats stats_now() {
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
  return stats;
}

}  // namespace

// Of `stats` as many bytes as its size says, also of an older or a later version's.
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
