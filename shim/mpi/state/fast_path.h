// The first question of every send and receive, asked in a few nanoseconds: does it concern the
// shim?
#pragma once

#include <atomic>
#include <cstdint>

#include "shim/mpi/native/values.h"
#include "shim/mpi/state/guards.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Bytes below which sends and receives go straight to the MPI. The largest value outside MPI_Init
// .. MPI_Finalize and where the shim is switched off, so that one compare decides.
struct Thresholds {
  std::uint64_t send = UINT64_MAX;
  std::uint64_t receive = UINT64_MAX;
};
extern Thresholds thresholds;

inline bool shim_is_active() { return thresholds.receive != UINT64_MAX; }

// Whether the data of a message lies in GPU memory. Asked once a call and before all
// else: what it says decides who may touch the buffer.
inline bool on_device(const void* buffer, MPI_Count count, MPI_Datatype type) {
  if (!shim_is_active()) return false;
  give_up_guard();
  if (buffer != MPI_BOTTOM) [[likely]]
    return tw_on_device(buffer) != 0;
  return count > 0 && type != MPI_DATATYPE_NULL && bottom_is_on_device(type);
}

// Counted without an atomic addition, which this path cannot afford: under MPI_THREAD_MULTIPLE the
// figure is approximate.
extern std::atomic<std::uint64_t> sends_below_threshold;

// Collectives that the settings leave to the MPI unseen. Counted as above.
extern std::atomic<std::uint64_t> collectives_left_alone;

// Whether large messages to other nodes are being watched, which a small one beside them may spoil
// (choose/link_rate.h).
extern std::atomic<bool> large_are_under_way;
void small_beside_large();

inline void note_small() {
  if (large_are_under_way.load(std::memory_order_relaxed)) [[unlikely]]
    small_beside_large();
}

// How often the program has called what may wait for other ranks: receives, completions, blocking
// collectives. Counted as above.
extern std::atomic<std::uint64_t> waits_so_far;

inline void note_wait() {
  waits_so_far.store(waits_so_far.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// A large send that blocks. Some of them one after the other are one wait: the program may do
// nothing but send, and what it sends next waits for room in the MPI's and the kernel's buffers.
void note_blocking_send();

// True, and counted, for sends that are none of the shim's business.
inline bool sends_raw_at_once(MPI_Count count, MPI_Datatype type, int destination) {
  if (message_bytes(count, type) >= thresholds.send) [[unlikely]] {
    return destination == MPI_PROC_NULL;
  }
  sends_below_threshold.store(sends_below_threshold.load(std::memory_order_relaxed) + 1,
                              std::memory_order_relaxed);
  note_small();
  return true;
}

}  // namespace thinwire::mpi
