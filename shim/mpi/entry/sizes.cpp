// Calls that ask a status for its size. One of a probe may not know it yet.
#include <optional>

#include "shim/mpi/message/early_message.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "thinwire/thinwire.h"

using namespace thinwire::mpi;

namespace {

// `call(status, type, count)` is the MPI's. Waits if the status has a mark.
template <typename Call, typename Count>
int ask_size(Call call, const MPI_Status* status, MPI_Datatype type, Count* count) {
  const auto size = size_by_mark(*status);
  if (!size) return call(status, type, count);
  if (*size == kForgotten) {
    tw_log(TW_LOG_ERROR,
           "the size of a probed message cannot be told: no memory for the message, "
           "or very many others were probed since");
    *count = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  MPI_Status own = *status;
  real().Status_set_elements_x(&own, MPI_BYTE, static_cast<MPI_Count>(*size));
  return call(&own, type, count);
}

}  // namespace

#define THINWIRE_SIZE(entry, Count)                                                       \
  extern "C" int MPI_##entry(const MPI_Status* status, MPI_Datatype type, Count* count) { \
    return ask_size(real().entry, status, type, count);                                   \
  }                                                                                       \
  THINWIRE_ALSO_PMPI(entry)

THINWIRE_SIZE(Get_count, int);
THINWIRE_SIZE(Get_count_c, MPI_Count);
THINWIRE_SIZE(Get_elements, int);
THINWIRE_SIZE(Get_elements_c, MPI_Count);
THINWIRE_SIZE(Get_elements_x, MPI_Count);

// The end of a datatype, which messages and other datatypes may outlive.

using namespace thinwire::mpi;

extern "C" int MPI_Type_free(MPI_Datatype* type) {
  if (shim_is_active() && type != nullptr) forget_type(*type);
  return real().Type_free(type);
}
THINWIRE_ALSO_PMPI(Type_free);
