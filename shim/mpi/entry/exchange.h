// Steps that blocking and non-blocking exchanges share.
#pragma once

#include <optional>

#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/native/under_way.h"

namespace thinwire::mpi {

// Whether an outgoing message is none of the shim's business. Of one in GPU memory that is asked
// where it departs.
bool sends_untouched(const Outgoing& message);

// The incoming message may reach the buffer before the outgoing one has left it, so the outgoing
// one leaves from its wire form or from a copy. `raw` says that it is not to be compressed. Returns
// what went wrong, raised.
int copy_outgoing(const Outgoing& message, bool raw, std::optional<Wire>& wire);

// Has the MPI look at the arguments of a send that is never started. What it refuses has no
// request: MPICH says MPI_SUCCESS after the program's error handler has returned.
bool passes_check(const Outgoing& message, int tag, int& error);

// The receive of an exchange, posted before the send is started. Where that fails it is taken back,
// before an error handler runs: left posted, it would take somebody else's message.
class PostedReceive final : UnderWay {
 public:
  explicit PostedReceive(MPI_Request request) : request_(request) { begin(); }
  void withdraw();
  using UnderWay::end;

 private:
  void before_handler(int) override { withdraw(); }
  MPI_Request request_;
};

// Whether a receive is none of the shim's business.
bool receives_untouched(const Incoming& message);

}  // namespace thinwire::mpi

// The calls of both kinds: `function(sent, send_tag, received, result)` has the result of type
// `Result`, a status or a request.
#define THINWIRE_EXCHANGE(entry, Count, call, Result, function)                                 \
  extern "C" int MPI_##entry(const void* send_buffer, Count send_count, MPI_Datatype send_type, \
                             int destination, int send_tag, void* buffer, Count count,          \
                             MPI_Datatype type, int source, int tag, MPI_Comm comm,             \
                             Result* result) {                                                  \
    return function({send_buffer, send_count, send_type, destination, comm,                     \
                     on_device(send_buffer, send_count, send_type)},                            \
                    send_tag,                                                                   \
                    {buffer, count, type, source, tag, comm, on_device(buffer, count, type)},   \
                    result);                                                                    \
  }                                                                                             \
  THINWIRE_ALSO_PMPI(entry)

#define THINWIRE_REPLACEMENT(entry, Count, call, Result, function)                               \
  extern "C" int MPI_##entry(void* buffer, Count count, MPI_Datatype type, int destination,      \
                             int send_tag, int source, int tag, MPI_Comm comm, Result* result) { \
    const bool gpu = on_device(buffer, count, type);                                             \
    return function({buffer, count, type, destination, comm, gpu}, send_tag,                     \
                    {buffer, count, type, source, tag, comm, gpu}, result);                      \
  }                                                                                              \
  THINWIRE_ALSO_PMPI(entry)
