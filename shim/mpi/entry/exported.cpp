// The transport for programs that make a tw_comm of an MPI communicator themselves.
#include "thinwire/thinwire_mpi.h"

#include <cstring>

#include "shim/mpi/collective/groups.h"
#include "shim/mpi/collective/transport.h"
#include "shim/mpi/native/real.h"

using namespace thinwire::mpi;

namespace {

tw_status refused(tw_status status, const char* why) {
  tw_log(TW_LOG_ERROR, why);
  return status;
}

bool mpi_runs() {
  int started = 0, ended = 0;
  real().Initialized(&started);
  real().Finalized(&ended);
  return started != 0 && ended == 0;
}

void release(void* context) {
  auto* transport = static_cast<MpiTransport*>(context);
  MPI_Comm own = transport->comm();
  delete transport;
  if (mpi_runs()) real().Comm_free(&own);
}

// Sizes of later versions are taken too, whose fields after are cleared.
bool can_hold_table(const tw_transport* out) {
  return out != nullptr && out->size >= sizeof(tw_transport) && out->size % 8 == 0 &&
         out->size <= 4096;
}

}  // namespace

extern "C" tw_status tw_mpi_transport(const void* comm, tw_transport* transport) {
  if (comm == nullptr || !can_hold_table(transport)) {
    return refused(TW_INVALID_ARGUMENT, "tw_mpi_transport: a null pointer, or a size not set");
  }
  if (!mpi_runs()) return refused(TW_UNSUPPORTED, "tw_mpi_transport: the MPI is not running");
  const MPI_Comm whose = *static_cast<const MPI_Comm*>(comm);
  int inter = 0;
  if (whose == MPI_COMM_NULL || real().Comm_test_inter(whose, &inter) != MPI_SUCCESS ||
      inter != 0) {
    return refused(TW_INVALID_ARGUMENT, "tw_mpi_transport: needs an intracommunicator");
  }
  const MPI_Comm own = duplicate_as_asked(whose);
  if (own == MPI_COMM_NULL) {
    return refused(TW_UNSUPPORTED, "tw_mpi_transport: the MPI has no communicator left");
  }
  tw_transport table = (new MpiTransport(own))->table();
  table.release = release;
  table.size = transport->size;
  std::memset(transport, 0, table.size);
  std::memcpy(transport, &table, sizeof table);
  return TW_OK;
}
