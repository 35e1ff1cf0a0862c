#include "shim/mpi/observe/variables.h"

#include <cstddef>
#include <cstring>
#include <iterator>

#include "shim/mpi/observe/stats.h"

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
