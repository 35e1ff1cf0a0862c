// THINWIRE_TRACE and THINWIRE_METRICS: what was sent to whom, in files of each rank
// (docs/reference/trace.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "shim/common/trace/cells.h"
#include "shim/mpi/state/collective_arguments.h"
#include "shim/mpi/state/native_reason.h"
#include "shim/mpi/state/outgoing.h"
#include "shim/mpi/state/settings.h"

namespace thinwire::shim {
class Recorder;
}

namespace thinwire::mpi {

using shim::Event;

namespace detail {
extern std::atomic<shim::Recorder*> recorder;
}

// Whether there is a trace: all that a message without one pays.
inline bool is_traced() { return detail::recorder.load(std::memory_order_relaxed) != nullptr; }

// Starts a trace and the thread that writes it; called after it is known who this rank is. If the
// system has no thread left there is no trace, which is logged.
void start_trace();

// Writes what is left and this rank's totals; waits for that.
void end_trace();

// Counts from now on, for tw_stats_kinds(), also if nobody asked for a file.
void count_kinds();

// How many kinds there are, and one of them; false if there are not so many.
std::uint32_t kinds_so_far();
bool read_kind(std::uint32_t number, tw_stats_kind& kind);

// A communicator has another name now, or its handle may mean another one.
void forget_traced_names();

// The functions below count one event each, on any thread, without a lock, an allocation or a file.

// A message of the threshold or more, and what became of it.
void trace_message(MPI_Comm comm, tw_peer place, int world_rank, const CodecUse& use,
                   std::uint32_t reason, const Event& event);

// A collective that stays the MPI's own.
void trace_native(const CollectiveArguments& arguments, NativeReason why, std::uint64_t bytes);

// The communicator's name, for a call that may end when the communicator is no more.
std::uint32_t traced_name(MPI_Comm comm);
void trace_collective(CollectiveCall call, std::uint32_t name, const tw_codec* codec,
                      std::optional<std::int64_t> gain, const tw_collective_report& report);

}  // namespace thinwire::mpi
