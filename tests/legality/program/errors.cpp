// Calls that fail by their arguments, under handlers that return and handlers that communicate.
#include <algorithm>
#include <array>

#include "message.h"

namespace legality {
namespace {

// State for a handler of the program's own; an error is raised by one thread here.
thread_local const Group* handling = nullptr;
thread_local int handled = 0;

// Every rank is in here at the same time, so they may talk.
void talk(MPI_Comm*, int*, ...) {
  ++handled;
  const Group& group = *handling;
  std::array<float, 500> out{}, in{};
  out.fill(static_cast<float>(group.rank + 1));
  const int to = (group.rank + 1) % group.size, from = (group.rank + group.size - 1) % group.size;
  MUST(MPI_Sendrecv(out.data(), 500, MPI_FLOAT, to, 7, in.data(), 500, MPI_FLOAT, from, 7,
                    group.comm, MPI_STATUS_IGNORE));
  if (!options.lossy && in[499] != static_cast<float>(from + 1))
    complain("a handler received something else");
  mark(Feature::handler_communicates_);
}

void count(MPI_Comm*, int*, ...) { ++handled; }

// A call that every MPI refuses before it does anything.
int wrong_call(int kind, MPI_Comm comm, int size) {
  std::array<float, 200> data{};
  MPI_Request request = MPI_REQUEST_NULL;
  switch (kind) {
    case 0:
      return MPI_Send(data.data(), 200, MPI_FLOAT, size + 3, 0, comm);
    case 1:
      return MPI_Send(data.data(), -1, MPI_FLOAT, 0, 0, comm);
    case 2:
      return MPI_Isend(data.data(), 200, MPI_FLOAT, 0, -77, comm, &request);
    case 3:
      return MPI_Recv(data.data(), 200, MPI_FLOAT, size + 3, 0, comm, MPI_STATUS_IGNORE);
    case 4:
      return MPI_Bcast(data.data(), 200, MPI_FLOAT, size + 3, comm);
    case 5:
      return MPI_Irecv(data.data(), 200, MPI_DATATYPE_NULL, 0, 0, comm, &request);
    default:
      return MPI_Isend(data.data(), -5, MPI_FLOAT, 0, 0, comm, &request);
  }
}

// A message that is longer than its receive, sent to oneself or the next rank.
int truncated(const Group& group, MPI_Comm comm) {
  std::vector<float> out(600, 1.0f), in(600);  // room for an MPI that writes past the count
  const int to = (group.rank + 1) % group.size, from = (group.rank + group.size - 1) % group.size;
  MPI_Request request = MPI_REQUEST_NULL;
  MUST(MPI_Isend(out.data(), 600, MPI_FLOAT, to, 3, comm, &request));
  const int code = MPI_Recv(in.data(), 300, MPI_FLOAT, from, 3, comm, MPI_STATUS_IGNORE);
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  mark(Feature::truncation_);
  return code;
}

bool may_truncate(const Group& group) {
  if (!options.threads) return true;
  return admit(group.size == 1 ? Feature::own_truncated_with_threads_
                               : Feature::truncated_with_threads_);
}

int class_of(int code) {
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  return found;
}

}  // namespace

Record run_errors(const Group& group, Random random) {
  Record record;
  MPI_Comm comm = MPI_COMM_NULL;
  MUST(MPI_Comm_dup(group.comm, &comm));
  int handler = random.below(3);
  if (handler == 2 && options.threads && !admit(Feature::handler_communicates_with_threads_))
    handler = 1;
  MPI_Errhandler own = MPI_ERRORS_RETURN;
  if (handler > 0) MUST(MPI_Comm_create_errhandler(handler == 1 ? count : talk, &own));
  MUST(MPI_Comm_set_errhandler(comm, own));
  mark(handler == 0 ? Feature::errors_return_ : Feature::own_handler_);
  handling = &group, handled = 0;
  const int calls = random.between(1, 3);
  for (int at = 0; at < calls; ++at) {
    const int kind = random.below(9);
    if (dropped(group.phase, at)) continue;
    const bool longer = kind > 6 && allowed(Feature::truncation_) && may_truncate(group);
    const int code = longer ? truncated(group, comm) : wrong_call(kind, comm, group.size);
    if (handler == 0 || admit(Feature::code_behind_handler_))
      record.add(static_cast<std::uint64_t>(class_of(code)));
    record.add(static_cast<std::uint64_t>(handled));
  }
  if (handler > 0) MUST(MPI_Errhandler_free(&own));
  MUST(MPI_Comm_free(&comm));
  return record;
}

}  // namespace legality
