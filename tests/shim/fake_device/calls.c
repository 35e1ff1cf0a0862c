// Stands between a test program and MPI: what the program knows by its mirror becomes a device
// address. So plain MPI programs, which fill and check their buffers themselves, hand device
// pointers to every call.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>

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

int MPI_Get_address(const void* location, MPI_Aint* address) {
  return NEXT(MPI_Get_address)(fake_device_address(location), address);
}
