// Stands between a test program and MPI: what the program knows by its mirror becomes a device
// address. So plain MPI programs, which fill and check their buffers themselves, hand device
// pointers to every call.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#include "memory.h"

#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

#define SEND(name)                                                                       \
  int name(const void* buffer, int count, MPI_Datatype type, int destination, int tag,   \
           MPI_Comm comm) {                                                              \
    return NEXT(name)(fake_device_address(buffer), count, type, destination, tag, comm); \
  }
#define START_SEND(name)                                                                          \
  int name(const void* buffer, int count, MPI_Datatype type, int destination, int tag,            \
           MPI_Comm comm, MPI_Request* request) {                                                 \
    return NEXT(name)(fake_device_address(buffer), count, type, destination, tag, comm, request); \
  }
#define START_RECEIVE(name)                                                                  \
  int name(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,   \
           MPI_Request* request) {                                                           \
    return NEXT(name)(fake_device_address(buffer), count, type, source, tag, comm, request); \
  }

SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Bsend)
SEND(MPI_Rsend)
START_SEND(MPI_Isend)
START_SEND(MPI_Issend)
START_SEND(MPI_Ibsend)
START_SEND(MPI_Irsend)
START_SEND(MPI_Send_init)
START_SEND(MPI_Ssend_init)
START_SEND(MPI_Bsend_init)
START_SEND(MPI_Rsend_init)
START_RECEIVE(MPI_Irecv)
START_RECEIVE(MPI_Recv_init)

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
  return NEXT(MPI_Recv)(fake_device_address(buffer), count, type, source, tag, comm, status);
}

int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message,
              MPI_Status* status) {
  return NEXT(MPI_Mrecv)(fake_device_address(buffer), count, type, message, status);
}

int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Request* request) {
  return NEXT(MPI_Imrecv)(fake_device_address(buffer), count, type, message, request);
}

int MPI_Sendrecv(const void* sent, int sent_count, MPI_Datatype sent_type, int destination,
                 int sent_tag, void* buffer, int count, MPI_Datatype type, int source, int tag,
                 MPI_Comm comm, MPI_Status* status) {
  return NEXT(MPI_Sendrecv)(fake_device_address(sent), sent_count, sent_type, destination, sent_tag,
                            fake_device_address(buffer), count, type, source, tag, comm, status);
}

int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int destination, int sent_tag,
                         int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return NEXT(MPI_Sendrecv_replace)(fake_device_address(buffer), count, type, destination, sent_tag,
                                    source, tag, comm, status);
}

// With FAKE_DEVICE_STARTED blocking collectives are begun and waited for instead.
static _Thread_local MPI_Request pending;
static int are_started(void) { return getenv("FAKE_DEVICE_STARTED") != NULL; }
static int wait_after(int error) {
  return error != MPI_SUCCESS ? error : NEXT(MPI_Wait)(&pending, MPI_STATUS_IGNORE);
}
#define COLLECTIVE(name, started, ...) \
  (are_started() ? wait_after(NEXT(started)(__VA_ARGS__, &pending)) : NEXT(name)(__VA_ARGS__))

#define DEVICE(buffer) fake_device_address(buffer)

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return COLLECTIVE(MPI_Bcast, MPI_Ibcast, DEVICE(buffer), count, type, root, comm);
}

int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  return COLLECTIVE(MPI_Reduce, MPI_Ireduce, DEVICE(in), DEVICE(out), count, type, op, root, comm);
}

#define REDUCTION(name, started)                                                                \
  int name(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) { \
    return COLLECTIVE(name, started, DEVICE(in), DEVICE(out), count, type, op, comm);           \
  }
REDUCTION(MPI_Allreduce, MPI_Iallreduce)
REDUCTION(MPI_Scan, MPI_Iscan)
REDUCTION(MPI_Exscan, MPI_Iexscan)
REDUCTION(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block)

int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  return COLLECTIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter, DEVICE(in), DEVICE(out), counts, type,
                    op, comm);
}

#define ROOTED(name, started)                                                               \
  int name(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,    \
           MPI_Datatype out_type, int root, MPI_Comm comm) {                                \
    return COLLECTIVE(name, started, DEVICE(in), in_count, in_type, DEVICE(out), out_count, \
                      out_type, root, comm);                                                \
  }
ROOTED(MPI_Gather, MPI_Igather)
ROOTED(MPI_Scatter, MPI_Iscatter)

#define ROOTLESS(name, started)                                                             \
  int name(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,    \
           MPI_Datatype out_type, MPI_Comm comm) {                                          \
    return COLLECTIVE(name, started, DEVICE(in), in_count, in_type, DEVICE(out), out_count, \
                      out_type, comm);                                                      \
  }
ROOTLESS(MPI_Allgather, MPI_Iallgather)
ROOTLESS(MPI_Alltoall, MPI_Ialltoall)

int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int counts[],
                const int places[], MPI_Datatype out_type, int root, MPI_Comm comm) {
  return COLLECTIVE(MPI_Gatherv, MPI_Igatherv, DEVICE(in), in_count, in_type, DEVICE(out), counts,
                    places, out_type, root, comm);
}

int MPI_Scatterv(const void* in, const int counts[], const int places[], MPI_Datatype in_type,
                 void* out, int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  return COLLECTIVE(MPI_Scatterv, MPI_Iscatterv, DEVICE(in), counts, places, in_type, DEVICE(out),
                    out_count, out_type, root, comm);
}

int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out,
                   const int counts[], const int places[], MPI_Datatype out_type, MPI_Comm comm) {
  return COLLECTIVE(MPI_Allgatherv, MPI_Iallgatherv, DEVICE(in), in_count, in_type, DEVICE(out),
                    counts, places, out_type, comm);
}

int MPI_Alltoallv(const void* in, const int in_counts[], const int in_places[],
                  MPI_Datatype in_type, void* out, const int counts[], const int places[],
                  MPI_Datatype out_type, MPI_Comm comm) {
  return COLLECTIVE(MPI_Alltoallv, MPI_Ialltoallv, DEVICE(in), in_counts, in_places, in_type,
                    DEVICE(out), counts, places, out_type, comm);
}

int MPI_Alltoallw(const void* in, const int in_counts[], const int in_places[],
                  const MPI_Datatype in_types[], void* out, const int counts[], const int places[],
                  const MPI_Datatype out_types[], MPI_Comm comm) {
  return COLLECTIVE(MPI_Alltoallw, MPI_Ialltoallw, DEVICE(in), in_counts, in_places, in_types,
                    DEVICE(out), counts, places, out_types, comm);
}

int MPI_Get_address(const void* location, MPI_Aint* address) {
  return NEXT(MPI_Get_address)(fake_device_address(location), address);
}
