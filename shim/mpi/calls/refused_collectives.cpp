// Collectives that GPU memory cannot take part in where the MPI does not reach it.
#include "calls/collective_signatures.h"
#include "calls/refuse.h"

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
#include "calls/for_int_counts.h"
#include "calls/refused_collectives.inc"
#include "calls/for_large_counts.h"
#include "calls/refused_collectives.inc"
// clang-format on
