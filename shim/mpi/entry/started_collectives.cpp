// Non-blocking and persistent collectives. Some are compressed as a whole. The
// others are the MPI's own, with host memory in the place of buffers on a GPU that it cannot reach.
#include "shim/mpi/collective/persist.h"
#include "shim/mpi/collective/started.h"
#include "shim/mpi/entry/collective_signatures.h"
#include "shim/mpi/entry/ordered_started.h"
#include "shim/mpi/entry/refuse.h"
#include "shim/mpi/entry/staged.h"

// MPI_<name> with these parameters; `attempt` may leave the call, and so may `order` once buffers
// are staged; `keeps` takes what is staged, and `whole` and `reads` are what stage_collective()
// takes; the rest are the buffers. Such calls are in no table of native/real.h: each finds the
// MPI's own at its first use.
#define STAGE(...) STAGE_EXPANDED(__VA_ARGS__)
#define STAGE_EXPANDED(name, parameters, arguments, attempt, order, loads, keeps, reads, whole, \
                       ...)                                                                     \
  extern "C" int MPI_##name parameters {                                                        \
    using namespace thinwire::mpi;                                                              \
    attempt;                                                                                    \
    static const auto native = reinterpret_cast<int(*) parameters>(native_call("PMPI_" #name)); \
    StagedCollectivePointer staged;                                                             \
    if (any_out_of_reach({__VA_ARGS__})) [[unlikely]] {                                         \
      const int error = stage_collective(whole, reads, loads, staged);                          \
      if (error != MPI_SUCCESS) return error;                                                   \
      redirect(*staged, __VA_ARGS__);                                                           \
    }                                                                                           \
    order;                                                                                      \
    const int error = native arguments;                                                         \
    if (error != MPI_SUCCESS || staged == nullptr) return error;                                \
    return keeps(std::move(staged), request);                                                   \
  }                                                                                             \
  THINWIRE_ALSO_PMPI(name)

#define ARGUMENTS(signature, call) \
  (CollectiveArguments{CollectiveCall::call, comm, signature##_SIDES})
#define COMPRESS_WHOLE(how, signature, call) \
  if (const auto done = how(ARGUMENTS(signature, call), request)) return *done

#define BOTH(nonblocking, persistent, signature, start, persist, order, order_persistent, reads, \
             call, ...)                                                                          \
  STAGE(CALL(nonblocking), (signature##_PARAMETERS, MPI_Comm comm, MPI_Request * request),       \
        (signature##_ARGUMENTS, comm, request), start, order, true, keep_started, reads,         \
        ARGUMENTS(signature, call), __VA_ARGS__);                                                \
  STAGE(CALL(persistent),                                                                        \
        (signature##_PARAMETERS, MPI_Comm comm, MPI_Info info, MPI_Request * request),           \
        (signature##_ARGUMENTS, comm, info, request), persist, order_persistent, false,          \
        keep_persistent, reads, ARGUMENTS(signature, call), __VA_ARGS__)

// A non-blocking call, and the persistent one of MPI 4.
#define STARTED(nonblocking, persistent, signature, call, ...)                               \
  BOTH(nonblocking, persistent, signature, COMPRESS_WHOLE(start_if_wanted, signature, call), \
       COMPRESS_WHOLE(persist_if_wanted, signature, call), THINWIRE_TRY_NOTHING,             \
       THINWIRE_TRY_NOTHING, false, call, __VA_ARGS__)

#define IN_ORDER(sum, signature, call)                                                         \
  if (const auto done = start_in_order(Sum::sum, ARGUMENTS(signature, call), staged, request)) \
  return *done
#define IN_ORDER_AGAIN(sum, signature, call)                                             \
  if (const auto done =                                                                  \
          persist_in_order(Sum::sum, ARGUMENTS(signature, call), staged, info, request)) \
  return *done
#define REDUCING(nonblocking, persistent, signature, call, ...)                              \
  BOTH(nonblocking, persistent, signature, COMPRESS_WHOLE(start_if_wanted, signature, call), \
       COMPRESS_WHOLE(persist_if_wanted, signature, call), IN_ORDER(call, signature, call),  \
       IN_ORDER_AGAIN(call, signature, call), false, call, __VA_ARGS__)
// The sides of a scan are those of an Allreduce, which may leave some of what it could write.
#define SCAN(nonblocking, persistent, signature, sum, reads, ...)                               \
  BOTH(nonblocking, persistent, signature, THINWIRE_TRY_NOTHING, THINWIRE_TRY_NOTHING,          \
       IN_ORDER(sum, signature, kAllreduce), IN_ORDER_AGAIN(sum, signature, kAllreduce), reads, \
       kAllreduce, __VA_ARGS__)

// The order matters.
// clang-format off
#include "shim/mpi/entry/for_int_counts.h"
#include "shim/mpi/entry/started_collectives.inc"
#include "shim/mpi/entry/for_large_counts.h"
#include "shim/mpi/entry/started_collectives.inc"
// clang-format on
