#include "shim/mpi/observe/variables.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "shim/mpi/observe/report.h"
#include "shim/mpi/observe/trace.h"
#include "shim/mpi/state/state.h"

// The core that a program calls is another copy than the one in here, and finds these functions by
// their names.

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

namespace thinwire::mpi {

const Variable kVariables[] = {
    {"thinwire_messages", "messages sent", offsetof(tw_stats, messages)},
    {"thinwire_compressed_messages", "messages sent compressed",
     offsetof(tw_stats, compressed_messages)},
    {"thinwire_bytes", "bytes of messages of the threshold or more", offsetof(tw_stats, bytes)},
    {"thinwire_wire_bytes", "what these became", offsetof(tw_stats, wire_bytes)},
    {"thinwire_compressed_bytes", "bytes of compressed messages",
     offsetof(tw_stats, compressed_bytes)},
    {"thinwire_compressed_wire_bytes", "what these became",
     offsetof(tw_stats, compressed_wire_bytes)},
    {"thinwire_decoded_messages", "messages that were decoded",
     offsetof(tw_stats, decoded_messages)},
    {"thinwire_damaged_messages", "messages that could not be decoded",
     offsetof(tw_stats, damaged_messages)},
    {"thinwire_messages_without_memory", "messages that there was no memory to decode",
     offsetof(tw_stats, messages_without_memory)},
    {"thinwire_device_failures", "calls that a GPU or its driver refused",
     offsetof(tw_stats, device_failures)},
    {"thinwire_encode_nanoseconds", "time of encoding messages",
     offsetof(tw_stats, encode_nanoseconds)},
    {"thinwire_decode_nanoseconds", "time of decoding messages",
     offsetof(tw_stats, decode_nanoseconds)},
    {"thinwire_predicted_nanoseconds", "predicted time of messages, as they were sent",
     offsetof(tw_stats, predicted_nanoseconds)},
    {"thinwire_predicted_raw_nanoseconds", "predicted time of the same, had they gone raw",
     offsetof(tw_stats, predicted_raw_nanoseconds)},
    {"thinwire_predicted_saved_nanoseconds",
     "predicted time of raw messages less what they took, which nobody timed raw; below 0 where it "
     "is more",
     offsetof(tw_stats, saved_nanoseconds), Variable::kSigned},
    {"thinwire_collectives", "collective calls that were compressed",
     offsetof(tw_stats, collectives)},
    {"thinwire_native_collectives", "collective calls that were left to the MPI",
     offsetof(tw_stats, native_collectives)},
    {"thinwire_collective_bytes", "bytes of the packets of compressed collectives",
     offsetof(tw_stats, collective_bytes)},
    {"thinwire_collective_wire_bytes", "what these became",
     offsetof(tw_stats, collective_wire_bytes)},
    {"thinwire_collective_nanoseconds", "time of compressed collectives",
     offsetof(tw_stats, collective_nanoseconds)},
    {"thinwire_collective_saved_nanoseconds",
     "time of raw collectives less that of compressed ones, as the ranks timed both",
     offsetof(tw_stats, collective_saved_nanoseconds), Variable::kSigned},
    {"thinwire_pool_peak_bytes", "the most host and pinned scratch memory held",
     offsetof(tw_stats, pool_peak_bytes), Variable::kPeak},
};
const int kVariableCount = static_cast<int>(std::size(kVariables));

std::uint64_t value_of(int own) {
  const tw_stats now = stats_now();
  std::uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const std::byte*>(&now) + kVariables[own].offset,
              sizeof word);
  return word;
}

}  // namespace thinwire::mpi
