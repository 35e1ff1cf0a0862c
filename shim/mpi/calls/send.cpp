// MPI_Send and its kin.
#include "abi/datatypes.h"
#include "abi/real.h"
#include "calls/nonblocking.h"
#include "process/process.h"
#include "process/shortcut.h"
#include "requests/hooks.h"
#include "wire/encode.h"

using namespace thinwire::mpi;

namespace thinwire::mpi {
namespace {

using BlockingSend = decltype(&PMPI_Send);

int blocking_send(BlockingSend call, const Outgoing& message, int tag) {
  if (!sends_raw_at_once(message.count, message.type, message.destination)) {
    if (const auto wire = encode(message)) {
      const ByteCount as(wire->bytes);
      return count_compressed(*wire, call(wire->data.data(), as.count(), as.type(),
                                          message.destination, tag, message.comm));
    }
  }
  return call(message.buffer, message.count, message.type, message.destination, tag, message.comm);
}

// Modes whose meaning a shorter message would change: a probe must not complete a synchronous
// send, and the user sized the buffer of a buffered one.
void count_mode(int count, MPI_Datatype type, int destination) {
  if (!sends_raw_at_once(count, type, destination)) {
    count_raw(TW_RAW_MODE, message_bytes(count, type));
  }
}

}  // namespace

int nonblocking_send(NonblockingSend call, const Outgoing& message, int tag, MPI_Request* request) {
  if (sends_raw_at_once(message.count, message.type, message.destination)) {
    return call(message.buffer, message.count, message.type, message.destination, tag, message.comm,
                request);
  }
  return start_large_send(call, message, tag, request);
}

int start_large_send(NonblockingSend call, const Outgoing& message, int tag, MPI_Request* request) {
  auto wire = encode(message);
  if (!wire) {
    return call(message.buffer, message.count, message.type, message.destination, tag, message.comm,
                request);
  }
  const ByteCount as(wire->bytes);
  const int error = count_compressed(*wire, call(wire->data.data(), as.count(), as.type(),
                                                 message.destination, tag, message.comm, request));
  if (error != MPI_SUCCESS) return error;
  // An MPI may give all sends that complete at once one and the same handle: no hook on those.
  int done = 0;
  real().Request_get_status(*request, &done, MPI_STATUS_IGNORE);
  if (!done) {
    put_hook(*request, std::make_unique<Hook>(Hook::Kind::kSend, std::move(wire->data)));
  }
  return MPI_SUCCESS;
}

}  // namespace thinwire::mpi

#define THINWIRE_BLOCKING_SEND(name)                                                           \
  extern "C" int MPI_##name(const void* buffer, int count, MPI_Datatype type, int destination, \
                            int tag, MPI_Comm comm) {                                          \
    return blocking_send(real().name, {buffer, count, type, destination, comm}, tag);          \
  }                                                                                            \
  THINWIRE_ALSO_PMPI(name)

#define THINWIRE_NONBLOCKING_SEND(name)                                                           \
  extern "C" int MPI_##name(const void* buffer, int count, MPI_Datatype type, int destination,    \
                            int tag, MPI_Comm comm, MPI_Request* request) {                       \
    return nonblocking_send(real().name, {buffer, count, type, destination, comm}, tag, request); \
  }                                                                                               \
  THINWIRE_ALSO_PMPI(name)

#define THINWIRE_RAW_SEND(name)                                                                \
  extern "C" int MPI_##name(const void* buffer, int count, MPI_Datatype type, int destination, \
                            int tag, MPI_Comm comm) {                                          \
    count_mode(count, type, destination);                                                      \
    return real().name(buffer, count, type, destination, tag, comm);                           \
  }                                                                                            \
  THINWIRE_ALSO_PMPI(name)

#define THINWIRE_RAW_NONBLOCKING_SEND(name)                                                    \
  extern "C" int MPI_##name(const void* buffer, int count, MPI_Datatype type, int destination, \
                            int tag, MPI_Comm comm, MPI_Request* request) {                    \
    count_mode(count, type, destination);                                                      \
    return real().name(buffer, count, type, destination, tag, comm, request);                  \
  }                                                                                            \
  THINWIRE_ALSO_PMPI(name)

THINWIRE_BLOCKING_SEND(Send);
THINWIRE_BLOCKING_SEND(Rsend);
THINWIRE_NONBLOCKING_SEND(Isend);
THINWIRE_NONBLOCKING_SEND(Irsend);
THINWIRE_RAW_SEND(Ssend);
THINWIRE_RAW_SEND(Bsend);
THINWIRE_RAW_NONBLOCKING_SEND(Issend);
THINWIRE_RAW_NONBLOCKING_SEND(Ibsend);
