// The Wait and Test families.
#include "shim/mpi/message/completion.h"
#include "shim/mpi/choose/watched.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/late_completion.h"
#include "shim/mpi/native/real.h"

using namespace thinwire::mpi;

namespace {

// After a call that completed all of `count`, or failed for some of them; `native` is what it has
// filled.
template <typename Requests>
int complete_all(Requests& completion, int count, int error, MPI_Status* native,
                 MPI_Status* statuses) {
  const bool per_status = is_of_class(error, MPI_ERR_IN_STATUS);
  if (error != MPI_SUCCESS && !per_status) return error;
  bool failed = per_status;
  int* const errors = completion.errors(count);
  for (int at = 0; at < count; ++at) {
    if (per_status) errors[at] = native[at].MPI_ERROR;
    completion.begin(at, native[at], errors[at]);
  }
  for (int at = 0; at < count; ++at) {
    if (is_of_class(errors[at], MPI_ERR_PENDING)) continue;
    errors[at] = completion.complete(at, native[at], errors[at], status_at(statuses, at));
    failed = failed || errors[at] != MPI_SUCCESS;
  }
  if (!failed) return MPI_SUCCESS;
  if (statuses != MPI_STATUSES_IGNORE) {
    for (int at = 0; at < count; ++at) statuses[at].MPI_ERROR = errors[at];
  }
  return MPI_ERR_IN_STATUS;
}

// After a call that completed some: their places in `indices`, their statuses in order of that.
template <typename Requests>
int complete_some(Requests& completion, int completed, const int* indices, int error,
                  MPI_Status* native, MPI_Status* statuses) {
  const bool per_status = is_of_class(error, MPI_ERR_IN_STATUS);
  if ((error != MPI_SUCCESS && !per_status) || completed == MPI_UNDEFINED) return error;
  bool failed = per_status;
  int* const errors = completion.errors(completed);
  for (int at = 0; at < completed; ++at) {
    if (per_status) errors[at] = native[at].MPI_ERROR;
    completion.begin(indices[at], native[at], errors[at]);
  }
  for (int at = 0; at < completed; ++at) {
    errors[at] = completion.complete(indices[at], native[at], errors[at], status_at(statuses, at));
    failed = failed || errors[at] != MPI_SUCCESS;
  }
  if (!failed) return MPI_SUCCESS;
  if (statuses != MPI_STATUSES_IGNORE) {
    for (int at = 0; at < completed; ++at) statuses[at].MPI_ERROR = errors[at];
  }
  return MPI_ERR_IN_STATUS;
}

// For a call of which one request completes at most: its place is in `index` if `*flag` is set.
template <typename Requests>
int complete_any(Requests& completion, int index, MPI_Status& native, int error,
                 MPI_Status* status) {
  if (index != MPI_UNDEFINED) return completion.complete(index, native, error, status);
  copy_status(native, status);
  return error;
}

// Calls `complete` with the cheaper of two ways to follow the requests that suffices. For calls
// that may complete some of them.
template <typename Complete>
int following_some(int count, MPI_Request* requests, Complete&& complete) {
  int error = MPI_SUCCESS;
  {
    Completion::ForMany space;
    if (LateCompletion::suffices()) {
      LateCompletion completion(count, requests, space);
      error = complete(completion);
      if (error != MPI_SUCCESS) completion.drop_vanished();
    } else {
      Completion completion(count, requests, space);
      error = complete(completion);
    }
  }
  progress_orphans();
  return error;
}

// The MPI's call about these requests, of which it may complete the one that is watched.
template <typename Call>
int watching(int count, const MPI_Request* requests, Call&& call) {
  const WatchedAmong watched(count, requests);
  return call();
}

// Orphans are for the caller to look after, once these are over: their errors may leave by a jump.
int wait_for_one(MPI_Request* request, MPI_Status* status) {
  Completion::ForOne space;
  Completion completion(1, request, space);
  wait_if_running(1, completion.requests());
  if (!completion.concerns_shim())
    return watching(1, completion.requests(),
                    [&] { return real().Wait(completion.requests(), status); });
  MPI_Status& native = completion.statuses()[0];
  completion.is_told({.native = &native, .users = status});
  const int error = watching(1, completion.requests(),
                             [&] { return real().Wait(completion.requests(), &native); });
  return completion.complete(0, native, error, status);
}

int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  Completion::ForMany space;
  Completion completion(count, requests, space);
  wait_if_running(count, completion.requests());
  if (!completion.concerns_shim()) {
    return watching(count, completion.requests(),
                    [&] { return real().Waitall(count, completion.requests(), statuses); });
  }
  completion.overlap_device_receives();
  MPI_Status* const native = completion.statuses();
  completion.is_told({Told::How::kAll, native, statuses});
  const int error = watching(count, completion.requests(),
                             [&] { return real().Waitall(count, completion.requests(), native); });
  const int outcome = complete_all(completion, count, error, native, statuses);
  if (outcome == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE) {
    // The MPIs write it here though nothing has failed, and programs read it.
    for (int at = 0; at < count; ++at) statuses[at].MPI_ERROR = MPI_SUCCESS;
  }
  return outcome;
}

// Returns `error`. A test that found something complete counts as a wait; one that did not ends no
// step of messages that are timed (choose/message_kind.h): programs test for the MPI's sake alone.
int noted(int error, const int* done) {
  if (error == MPI_SUCCESS && *done > 0) note_wait();
  return error;
}

}  // namespace

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  note_wait();
  if (!concerns_shim(1, request))
    return watching(1, request, [&] { return real().Wait(request, status); });
  const int error = wait_for_one(request, status);
  progress_orphans();
  return error;
}
THINWIRE_ALSO_PMPI(Wait);

extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!concerns_shim(1, request))
    return noted(watching(1, request, [&] { return real().Test(request, flag, status); }), flag);
  const int outcome = following_some(1, request, [&](auto& completion) {
    MPI_Status native{};
    completion.is_told({.native = &native, .users = status});
    const int error = watching(1, completion.requests(),
                               [&] { return real().Test(completion.requests(), flag, &native); });
    return *flag ? completion.complete(0, native, error, status) : error;
  });
  return noted(outcome, flag);
}
THINWIRE_ALSO_PMPI(Test);

extern "C" int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  note_wait();
  if (!concerns_shim(count, requests))
    return watching(count, requests, [&] { return real().Waitall(count, requests, statuses); });
  const int error = wait_for_all(count, requests, statuses);
  progress_orphans();
  return error;
}
THINWIRE_ALSO_PMPI(Waitall);

extern "C" int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!concerns_shim(count, requests)) {
    return noted(
        watching(count, requests, [&] { return real().Testall(count, requests, flag, statuses); }),
        flag);
  }
  const int outcome = following_some(count, requests, [&](auto& completion) {
    MPI_Status* const native = completion.statuses(statuses);
    completion.is_told({Told::How::kAll, native, statuses});
    const int error = watching(count, completion.requests(), [&] {
      return real().Testall(count, completion.requests(), flag, native);
    });
    return *flag ? complete_all(completion, count, error, native, statuses) : error;
  });
  return noted(outcome, flag);
}
THINWIRE_ALSO_PMPI(Testall);

extern "C" int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  note_wait();
  if (!concerns_shim(count, requests))
    return watching(count, requests,
                    [&] { return real().Waitany(count, requests, index, status); });
  return following_some(count, requests, [&](auto& completion) {
    MPI_Status native{};
    completion.is_told({Told::How::kOne, &native, status, index});
    const int error = watching(count, completion.requests(), [&] {
      return real().Waitany(count, completion.requests(), index, &native);
    });
    return complete_any(completion, *index, native, error, status);
  });
}
THINWIRE_ALSO_PMPI(Waitany);

extern "C" int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                           MPI_Status* status) {
  if (!concerns_shim(count, requests)) {
    return noted(watching(count, requests,
                          [&] { return real().Testany(count, requests, index, flag, status); }),
                 flag);
  }
  const int outcome = following_some(count, requests, [&](auto& completion) {
    MPI_Status native{};
    completion.is_told({Told::How::kOne, &native, status, index});
    const int error = watching(count, completion.requests(), [&] {
      return real().Testany(count, completion.requests(), index, flag, &native);
    });
    return *flag ? complete_any(completion, *index, native, error, status) : error;
  });
  return noted(outcome, flag);
}
THINWIRE_ALSO_PMPI(Testany);

extern "C" int MPI_Waitsome(int count, MPI_Request requests[], int* completed, int indices[],
                            MPI_Status statuses[]) {
  note_wait();
  if (!concerns_shim(count, requests)) {
    return watching(count, requests,
                    [&] { return real().Waitsome(count, requests, completed, indices, statuses); });
  }
  return following_some(count, requests, [&](auto& completion) {
    MPI_Status* const native = completion.statuses(statuses);
    completion.is_told({Told::How::kSome, native, statuses, indices, completed});
    const int error = watching(count, completion.requests(), [&] {
      return real().Waitsome(count, completion.requests(), completed, indices, native);
    });
    return complete_some(completion, *completed, indices, error, native, statuses);
  });
}
THINWIRE_ALSO_PMPI(Waitsome);

extern "C" int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[],
                            MPI_Status statuses[]) {
  if (!concerns_shim(count, requests)) {
    return noted(
        watching(count, requests,
                 [&] { return real().Testsome(count, requests, completed, indices, statuses); }),
        completed);
  }
  const int outcome = following_some(count, requests, [&](auto& completion) {
    MPI_Status* const native = completion.statuses(statuses);
    completion.is_told({Told::How::kSome, native, statuses, indices, completed});
    const int error = watching(count, completion.requests(), [&] {
      return real().Testsome(count, completion.requests(), completed, indices, native);
    });
    return complete_some(completion, *completed, indices, error, native, statuses);
  });
  return noted(outcome, completed);
}
THINWIRE_ALSO_PMPI(Testsome);
