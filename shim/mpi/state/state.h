// This process' one state: settings, its job, counters, scratch.
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/mpi/job/job.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/world.h"
#include "shim/mpi/state/in_place.h"
#include "shim/mpi/state/native_reason.h"
#include "shim/mpi/state/pool.h"
#include "shim/mpi/state/settings.h"

namespace thinwire::mpi {

// Counted as they happen; sends below the threshold are counted in fast_path.h.
struct Counters {
  std::atomic<std::uint64_t> raw_by_reason[TW_REASON_COUNT]{};
  std::atomic<std::uint64_t> raw_bytes{0};  // of raw sends at or above the threshold
  std::atomic<std::uint64_t> compressed_messages{0};
  std::atomic<std::uint64_t> compressed_bytes{0};  // as the program asked for them
  std::atomic<std::uint64_t> wire_bytes{0};        // as they travelled
  std::atomic<std::uint64_t> decoded_messages{0};
  std::atomic<std::uint64_t> damaged_messages{0};
  std::atomic<std::uint64_t> messages_without_memory{0};  // to decode them in
  std::atomic<std::uint64_t> encode_nanoseconds{0};
  std::atomic<std::uint64_t> decode_nanoseconds{0};
  // Predicted times, if the link's rate is known: of compressed sends, of these had they gone raw,
  // of raw ones.
  std::atomic<std::uint64_t> predicted_nanoseconds{0};
  std::atomic<std::uint64_t> predicted_raw_nanoseconds{0};
  std::atomic<std::uint64_t> predicted_of_raw_nanoseconds{0};
  std::atomic<std::int64_t> saved_nanoseconds{0};
  std::atomic<std::uint64_t> device_messages{0};  // sends from GPU memory
  std::atomic<std::uint64_t> staged_messages{0};  // of them, those copied to pinned memory raw
  std::atomic<std::uint64_t> staged_bytes{0};
  std::atomic<std::uint64_t> staging_nanoseconds{0};  // raw copies of either direction
  std::atomic<std::uint64_t> device_failures{0};      // a GPU or its driver refused something
  // Counts of receives into host memory that may meet a frame:
  std::atomic<std::uint64_t> receives_in_place{0};
  std::atomic<std::uint64_t> receives_through_scratch{0};
  std::atomic<std::uint64_t> copied_receives{0};  // raw messages that were copied out of scratch
  std::atomic<std::uint64_t> deferred_writes{0};  // messages that another receive's end completed
  std::atomic<std::uint64_t> continuations{0};    // installed on requests, of sends too
  // Counts of probed messages whose size was asked for:
  std::atomic<std::uint64_t> received_ahead{0};
  std::atomic<std::uint64_t> raw_received_ahead{0};  // which may have ended a synchronous send
  // Collectives, by why they stayed the MPI's own (NativeReason), first those that did not:
  std::atomic<std::uint64_t> collectives[kNativeReasons]{};
  std::atomic<std::uint64_t>
      native_bytes[kNativeReasons]{};                  // of the others, if a report is wanted
  std::atomic<std::uint64_t> sums_in_rank_order{0};    // of those that the MPI moved raw
  std::atomic<std::uint64_t> collective_raw_bytes{0};  // sent in those that were compressed
  std::atomic<std::uint64_t> collective_wire_bytes{0};
  std::atomic<std::uint64_t> collective_packets{0};
  std::atomic<std::uint64_t> collective_raw_packets[TW_REASON_COUNT]{};
  std::atomic<std::uint64_t> collective_nanoseconds{0};
  std::atomic<std::uint64_t> collective_encode_nanoseconds{0};
  std::atomic<std::uint64_t> collective_decode_nanoseconds{0};
  std::atomic<std::uint64_t> collective_predicted_nanoseconds{0};
  std::atomic<std::int64_t> collective_saved_nanoseconds{0};
};

struct Process {
  Settings settings;
  Capabilities capabilities;  // what this process has published
  Job job;
  Pool pool;
  CountingResource system;  // where the pools of continuations and reservations take their memory
  InPlace in_place{&system};
  Counters counters;
  World world;
  bool concurrent = false;       // MPI_THREAD_MULTIPLE
  bool gpu_aware = false;        // the MPI itself takes GPU pointers
  tw_message_options options{};  // carries the job's name: its mark
};

Process& process();

}  // namespace thinwire::mpi
