// The only functions that tell what became of collective calls: counters, the log of choices and
// the trace.
#pragma once

#include <cstdint>
#include <optional>

#include "shim/mpi/observe/plan_log.h"
#include "shim/mpi/state/collective_arguments.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// A call that is compressed as a whole is about to run; or one as which it was begun, and which
// moves its bytes as they are.
void observe_begun(NativeReason reason);

// A call that ran compressed.
struct CompressedCall {
  CollectiveCall call{};
  std::uint32_t traced_name = 0;  // of the communicator
  KindKey kind;
  choose::LinkRate link;             // by which it was planned
  int rule = -1;                     // of the policy, that named the codec
  std::optional<std::int64_t> gain;  // nanoseconds by which calls like it were faster
};
void observe_compressed(const CompressedCall& call, const tw_collective_report& report);

// Whether anybody wants the bytes of calls that stay the MPI's own.
bool wants_native_bytes();

// A call that stays the MPI's own.
void observe_native(NativeReason why, const CollectiveArguments& arguments, std::uint64_t bytes,
                    const KindKey& kind, const Planned& planned);

}  // namespace thinwire::mpi
