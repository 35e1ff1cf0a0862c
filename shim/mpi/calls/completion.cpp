// The Wait and Test families.
#include "requests/completion.h"
#include "abi/real.h"
#include "wire/deliver.h"

using namespace thinwire::mpi;

namespace {

// After a call that completed all of `count`, or failed for some of them.
int settle_all(Completion& completion, int count, int error, MPI_Status* statuses) {
  const bool per_status = is_of_class(error, MPI_ERR_IN_STATUS);
  if (error != MPI_SUCCESS && !per_status) return error;
  bool failed = per_status;
  int* const errors = completion.errors();
  for (int at = 0; at < count; ++at) {
    const MPI_Status& native = completion.statuses()[at];
    if (per_status) errors[at] = native.MPI_ERROR;
    completion.begin(at, native, errors[at]);
  }
  for (int at = 0; at < count; ++at) {
    MPI_Status& native = completion.statuses()[at];
    if (is_of_class(errors[at], MPI_ERR_PENDING)) continue;
    errors[at] = completion.settle(at, native, errors[at], status_at(statuses, at));
    failed = failed || errors[at] != MPI_SUCCESS;
  }
  if (!failed) return MPI_SUCCESS;
  if (statuses != MPI_STATUSES_IGNORE) {
    for (int at = 0; at < count; ++at) statuses[at].MPI_ERROR = errors[at];
  }
  return MPI_ERR_IN_STATUS;
}

// After a call that completed some: their places in `indices`, their statuses in order of that.
int settle_some(Completion& completion, int completed, const int* indices, int error,
                MPI_Status* statuses) {
  const bool per_status = is_of_class(error, MPI_ERR_IN_STATUS);
  if ((error != MPI_SUCCESS && !per_status) || completed == MPI_UNDEFINED) return error;
  bool failed = per_status;
  int* const errors = completion.errors();
  for (int at = 0; at < completed; ++at) {
    const MPI_Status& native = completion.statuses()[at];
    if (per_status) errors[at] = native.MPI_ERROR;
    completion.begin(indices[at], native, errors[at]);
  }
  for (int at = 0; at < completed; ++at) {
    MPI_Status& native = completion.statuses()[at];
    errors[at] = completion.settle(indices[at], native, errors[at], status_at(statuses, at));
    failed = failed || errors[at] != MPI_SUCCESS;
  }
  if (!failed) return MPI_SUCCESS;
  if (statuses != MPI_STATUSES_IGNORE) {
    for (int at = 0; at < completed; ++at) statuses[at].MPI_ERROR = errors[at];
  }
  return MPI_ERR_IN_STATUS;
}

}  // namespace

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!requests_pending() || request == nullptr) return real().Wait(request, status);
  Completion::ForOne space;
  Completion completion(1, request, space);
  wait_if_running(1, completion.requests());
  if (!completion.concerns_shim()) return real().Wait(completion.requests(), status);
  MPI_Status& native = completion.statuses()[0];
  const int error = real().Wait(completion.requests(), &native);
  return completion.settle(0, native, error, status);
}
THINWIRE_ALSO_PMPI(Wait);

extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!requests_pending() || request == nullptr) return real().Test(request, flag, status);
  Completion::ForOne space;
  Completion completion(1, request, space);
  if (!completion.concerns_shim()) return real().Test(completion.requests(), flag, status);
  MPI_Status& native = completion.statuses()[0];
  const int error = real().Test(completion.requests(), flag, &native);
  return *flag ? completion.settle(0, native, error, status) : error;
}
THINWIRE_ALSO_PMPI(Test);

extern "C" int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!requests_pending() || count <= 0) return real().Waitall(count, requests, statuses);
  Completion::ForMany space;
  Completion completion(count, requests, space);
  wait_if_running(count, completion.requests());
  if (!completion.concerns_shim()) {
    return real().Waitall(count, completion.requests(), statuses);
  }
  completion.overlap_device_receives();
  const int error = real().Waitall(count, completion.requests(), completion.statuses());
  return settle_all(completion, count, error, statuses);
}
THINWIRE_ALSO_PMPI(Waitall);

extern "C" int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!requests_pending() || count <= 0) return real().Testall(count, requests, flag, statuses);
  Completion::ForMany space;
  Completion completion(count, requests, space);
  if (!completion.concerns_shim()) {
    return real().Testall(count, completion.requests(), flag, statuses);
  }
  const int error = real().Testall(count, completion.requests(), flag, completion.statuses());
  return *flag ? settle_all(completion, count, error, statuses) : error;
}
THINWIRE_ALSO_PMPI(Testall);

extern "C" int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!requests_pending() || count <= 0) return real().Waitany(count, requests, index, status);
  Completion::ForMany space;
  Completion completion(count, requests, space);
  if (!completion.concerns_shim()) {
    return real().Waitany(count, completion.requests(), index, status);
  }
  MPI_Status native{};
  const int error = real().Waitany(count, completion.requests(), index, &native);
  if (*index == MPI_UNDEFINED) {
    copy_status(native, status);
    return error;
  }
  return completion.settle(*index, native, error, status);
}
THINWIRE_ALSO_PMPI(Waitany);

extern "C" int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                           MPI_Status* status) {
  if (!requests_pending() || count <= 0) {
    return real().Testany(count, requests, index, flag, status);
  }
  Completion::ForMany space;
  Completion completion(count, requests, space);
  if (!completion.concerns_shim()) {
    return real().Testany(count, completion.requests(), index, flag, status);
  }
  MPI_Status native{};
  const int error = real().Testany(count, completion.requests(), index, flag, &native);
  if (!*flag) return error;
  if (*index == MPI_UNDEFINED) {
    copy_status(native, status);
    return error;
  }
  return completion.settle(*index, native, error, status);
}
THINWIRE_ALSO_PMPI(Testany);

extern "C" int MPI_Waitsome(int count, MPI_Request requests[], int* completed, int indices[],
                            MPI_Status statuses[]) {
  if (!requests_pending() || count <= 0) {
    return real().Waitsome(count, requests, completed, indices, statuses);
  }
  Completion::ForMany space;
  Completion completion(count, requests, space);
  if (!completion.concerns_shim()) {
    return real().Waitsome(count, completion.requests(), completed, indices, statuses);
  }
  const int error =
      real().Waitsome(count, completion.requests(), completed, indices, completion.statuses());
  return settle_some(completion, *completed, indices, error, statuses);
}
THINWIRE_ALSO_PMPI(Waitsome);

extern "C" int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[],
                            MPI_Status statuses[]) {
  if (!requests_pending() || count <= 0) {
    return real().Testsome(count, requests, completed, indices, statuses);
  }
  Completion::ForMany space;
  Completion completion(count, requests, space);
  if (!completion.concerns_shim()) {
    return real().Testsome(count, completion.requests(), completed, indices, statuses);
  }
  const int error =
      real().Testsome(count, completion.requests(), completed, indices, completion.statuses());
  return settle_some(completion, *completed, indices, error, statuses);
}
THINWIRE_ALSO_PMPI(Testsome);
