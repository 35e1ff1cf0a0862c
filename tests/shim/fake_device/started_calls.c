// The same as calls.c for collectives that go on while the program does: the non-blocking ones, and
// where the MPI has them (FAKE_DEVICE_PERSISTENT) the persistent ones.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>

#include "memory.h"

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))
#define DEVICE(buffer) fake_device_address(buffer)

// MPI_<name> with these parameters; what it passes on has device addresses.
#define CALL(name, parameters, arguments) \
  int name parameters { return NEXT(name) arguments; }

#define UNPACKED(...) __VA_ARGS__
#define NONBLOCKING(name, parameters, arguments)                          \
  CALL(name, (UNPACKED parameters, MPI_Comm comm, MPI_Request * request), \
       (UNPACKED arguments, comm, request))
#ifdef FAKE_DEVICE_PERSISTENT
#define BOTH(nonblocking, persistent, parameters, arguments)                                   \
  NONBLOCKING(nonblocking, parameters, arguments)                                              \
  CALL(persistent, (UNPACKED parameters, MPI_Comm comm, MPI_Info info, MPI_Request * request), \
       (UNPACKED arguments, comm, info, request))
#else
#define BOTH(nonblocking, persistent, parameters, arguments) \
  NONBLOCKING(nonblocking, parameters, arguments)
#endif

#define SENT const void *in, int in_count, MPI_Datatype in_type
#define SENT_LIST const void *in, const int in_counts[], const int in_places[], MPI_Datatype in_type
#define RECEIVED void *out, int out_count, MPI_Datatype out_type
#define RECEIVED_LIST \
  void *out, const int out_counts[], const int out_places[], MPI_Datatype out_type
#define TYPED_LISTS                                                                            \
  const void *in, const int in_counts[], const int in_places[], const MPI_Datatype in_types[], \
      void *out, const int out_counts[], const int out_places[], const MPI_Datatype out_types[]
#define TO DEVICE(in), in_count, in_type
#define TO_LIST DEVICE(in), in_counts, in_places, in_type
#define FROM DEVICE(out), out_count, out_type
#define FROM_LIST DEVICE(out), out_counts, out_places, out_type

BOTH(MPI_Ibcast, MPI_Bcast_init, (RECEIVED, int root), (FROM, root))
BOTH(MPI_Iallgather, MPI_Allgather_init, (SENT, RECEIVED), (TO, FROM))
BOTH(MPI_Iallgatherv, MPI_Allgatherv_init, (SENT, RECEIVED_LIST), (TO, FROM_LIST))
BOTH(MPI_Igather, MPI_Gather_init, (SENT, RECEIVED, int root), (TO, FROM, root))
BOTH(MPI_Igatherv, MPI_Gatherv_init, (SENT, RECEIVED_LIST, int root), (TO, FROM_LIST, root))
BOTH(MPI_Iscatter, MPI_Scatter_init, (SENT, RECEIVED, int root), (TO, FROM, root))
BOTH(MPI_Iscatterv, MPI_Scatterv_init, (SENT_LIST, RECEIVED, int root), (TO_LIST, FROM, root))
BOTH(MPI_Ialltoall, MPI_Alltoall_init, (SENT, RECEIVED), (TO, FROM))
BOTH(MPI_Ialltoallv, MPI_Alltoallv_init, (SENT_LIST, RECEIVED_LIST), (TO_LIST, FROM_LIST))
BOTH(MPI_Ialltoallw, MPI_Alltoallw_init, (TYPED_LISTS),
     (DEVICE(in), in_counts, in_places, in_types, DEVICE(out), out_counts, out_places, out_types))

#define OPERANDS const void *in, void *out, int count, MPI_Datatype type, MPI_Op op
#define REDUCED DEVICE(in), DEVICE(out), count, type, op
BOTH(MPI_Iallreduce, MPI_Allreduce_init, (OPERANDS), (REDUCED))
BOTH(MPI_Ireduce, MPI_Reduce_init, (OPERANDS, int root), (REDUCED, root))
BOTH(MPI_Iscan, MPI_Scan_init, (OPERANDS), (REDUCED))
BOTH(MPI_Iexscan, MPI_Exscan_init, (OPERANDS), (REDUCED))
BOTH(MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, (OPERANDS), (REDUCED))
BOTH(MPI_Ireduce_scatter, MPI_Reduce_scatter_init,
     (const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op),
     (DEVICE(in), DEVICE(out), counts, type, op))
