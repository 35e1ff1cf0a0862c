// Collectives that GPU memory cannot take part in if the MPI does not reach it.
#include "shim/mpi/entry/collective_signatures.h"
#include "shim/mpi/entry/refuse.h"

#define REFUSE_BLOCKING(name, signature, ...)                          \
  THINWIRE_REFUSE(CALL(name), (signature##_PARAMETERS, MPI_Comm comm), \
                  (signature##_ARGUMENTS, comm), raise_on_comm(comm), __VA_ARGS__)
// A non-blocking call, and the persistent one of MPI 4.
#define REFUSE_STARTED(nonblocking, persistent, signature, ...)                                  \
  THINWIRE_REFUSE(CALL(nonblocking),                                                             \
                  (signature##_PARAMETERS, MPI_Comm comm, MPI_Request * request),                \
                  (signature##_ARGUMENTS, comm, request), raise_on_comm(comm), __VA_ARGS__);     \
  THINWIRE_REFUSE(CALL(persistent),                                                              \
                  (signature##_PARAMETERS, MPI_Comm comm, MPI_Info info, MPI_Request * request), \
                  (signature##_ARGUMENTS, comm, info, request), raise_on_comm(comm), __VA_ARGS__)

// The order matters.
// clang-format off
#include "shim/mpi/entry/for_int_counts.h"
#include "shim/mpi/entry/refused_collectives.inc"
#include "shim/mpi/entry/for_large_counts.h"
#include "shim/mpi/entry/refused_collectives.inc"
// clang-format on
