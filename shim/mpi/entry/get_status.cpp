// MPI_Request_get_status and its MPI 4.1 forms over several requests: a look that completes
// nothing.
#include <vector>

#include "shim/mpi/message/completion.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/native/real.h"

using namespace thinwire::mpi;

namespace {

// Delivered now, because the user may read the buffer now; the outcome is kept for the call that
// completes the request.
int look_at(MPI_Request request, int* flag, MPI_Status* status) {
  const Persistent* persistent = find_persistent(request);
  const MPI_Request native = persistent != nullptr ? persistent->active : request;
  HeldContinuation held(native);
  if (!held.has_any()) return real().Request_get_status(native, flag, status);
  MPI_Status own{};
  const int error = real().Request_get_status(native, flag, &own);
  if (!*flag) return error;
  ContinuationPointer continuation = held.take();
  if (!continuation) return error;
  const Settled outcome = settle(*continuation, own, error);
  continuation->status = own;
  continuation->error = outcome.error;
  continuation->delivered = true;
  put_continuation(native, std::move(continuation));
  copy_status(own, status);
  return outcome.raise();
}

// The MPI's own requests in the place of the library's persistent ones; it leaves out inactive
// ones.
std::vector<MPI_Request> known_to_the_mpi(int count, const MPI_Request requests[]) {
  std::vector<MPI_Request> known(requests, requests + count);
  for (MPI_Request& request : known) {
    if (const Persistent* persistent = find_persistent(request)) request = persistent->active;
  }
  return known;
}

bool nothing_pending(int count) { return !requests_pending() || count <= 0; }

}  // namespace

extern "C" int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (!requests_pending() || request == MPI_REQUEST_NULL) {
    return real().Request_get_status(request, flag, status);
  }
  return look_at(request, flag, status);
}
THINWIRE_ALSO_PMPI(Request_get_status);

extern "C" int MPI_Request_get_status_any(int count, const MPI_Request requests[], int* index,
                                          int* flag, MPI_Status* status) {
  if (nothing_pending(count)) {
    return real().Request_get_status_any(count, requests, index, flag, status);
  }
  const auto known = known_to_the_mpi(count, requests);
  const int error = real().Request_get_status_any(count, known.data(), index, flag, status);
  if (error != MPI_SUCCESS || !*flag || *index == MPI_UNDEFINED) return error;
  return look_at(requests[*index], flag, status);
}
THINWIRE_ALSO_PMPI(Request_get_status_any);

extern "C" int MPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                          MPI_Status statuses[]) {
  if (nothing_pending(count)) {
    return real().Request_get_status_all(count, requests, flag, statuses);
  }
  // Statuses are the user's only if all are done.
  for (int at = 0; at < count; ++at) {
    const int error = look_at(requests[at], flag, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS || !*flag) return error;
  }
  for (int at = 0; at < count; ++at) look_at(requests[at], flag, status_at(statuses, at));
  return MPI_SUCCESS;
}
THINWIRE_ALSO_PMPI(Request_get_status_all);

extern "C" int MPI_Request_get_status_some(int count, const MPI_Request requests[], int* done,
                                           int indices[], MPI_Status statuses[]) {
  if (nothing_pending(count)) {
    return real().Request_get_status_some(count, requests, done, indices, statuses);
  }
  const auto known = known_to_the_mpi(count, requests);
  int error =
      real().Request_get_status_some(count, known.data(), done, indices, MPI_STATUSES_IGNORE);
  for (int at = 0; error == MPI_SUCCESS && *done != MPI_UNDEFINED && at < *done; ++at) {
    int flag = 0;
    error = look_at(requests[indices[at]], &flag, status_at(statuses, at));
  }
  return error;
}
THINWIRE_ALSO_PMPI(Request_get_status_some);
