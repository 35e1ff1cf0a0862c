// The probes, and the receives of probed messages.
#include <sched.h>

#include <unordered_map>

#include "abi/real.h"
#include "abi/self.h"
#include "calls/nonblocking.h"
#include "peers/stash.h"
#include "process/process.h"
#include "process/shortcut.h"
#include "wire/deliver.h"

using namespace thinwire::mpi;

namespace {

// A message that MPI_Mprobe handed out under a token of ours.
struct Probed {
  Token token;
  std::unique_ptr<Stashed> stashed;
  MPI_Comm comm;
};

std::mutex g_probed_mutex;
std::unordered_map<MPI_Message, Probed> g_probed;

Found look_until_found(MPI_Comm comm, int source, int tag) {
  while (true) {
    const Found found = look(comm, source, tag);
    if (found.any || found.error != MPI_SUCCESS) return found;
    progress_orphans();
    sched_yield();
  }
}

// Asked by every probe first. Receives that the program freed go on here whatever is probed.
bool untouched(MPI_Comm comm, int source) {
  progress_orphans();
  return !shim_is_active() || !may_receive_compressed(comm, source);
}

MPI_Message hand_out(MPI_Comm comm, std::unique_ptr<Stashed> stashed) {
  Probed probed{make_token(), std::move(stashed), comm};
  const MPI_Message handle = probed.token.message;
  const std::lock_guard lock(g_probed_mutex);
  g_probed.emplace(handle, std::move(probed));
  return handle;
}

std::unique_ptr<Stashed> redeem(MPI_Message handle, MPI_Comm& comm) {
  const std::lock_guard lock(g_probed_mutex);
  const auto found = g_probed.find(handle);
  if (found == g_probed.end()) return nullptr;
  spend_token(found->second.token);
  comm = found->second.comm;
  auto stashed = std::move(found->second.stashed);
  g_probed.erase(found);
  return stashed;
}

// Memory that the MPI must not be given as it is: a GPU's, or bytes of an active receive.
bool may_be_shared(bool on_device) {
  return on_device ? must_be_staged(on_device) : process().in_place.claims() != 0;
}

}  // namespace

extern "C" int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (untouched(comm, source)) return real().Probe(source, tag, comm, status);
  const Found found = look_until_found(comm, source, tag);
  if (found.any) copy_status(found.status, status);
  return found.error;
}
THINWIRE_ALSO_PMPI(Probe);

extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (untouched(comm, source)) return real().Iprobe(source, tag, comm, flag, status);
  const Found found = look(comm, source, tag);
  *flag = found.any;
  if (found.any) copy_status(found.status, status);
  return found.error;
}
THINWIRE_ALSO_PMPI(Iprobe);

extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                           MPI_Status* status) {
  if (untouched(comm, source)) return real().Improbe(source, tag, comm, flag, message, status);
  const Found found = look(comm, source, tag);
  *flag = found.any;
  if (!found.any) return found.error;
  // What was found may be another thread's by now: then nothing is found, or a later message.
  MPI_Status matched = found.status;
  std::unique_ptr<Stashed> stashed;
  if (found.stashed) {
    stashed = take_stashed(comm, matched.MPI_SOURCE, matched.MPI_TAG);
    *flag = stashed != nullptr;
  } else {
    const int error =
        real().Improbe(matched.MPI_SOURCE, matched.MPI_TAG, comm, flag, message, &matched);
    if (error != MPI_SUCCESS) return error;
    if (*flag && is_suspicious(matched)) stashed = start_receive(*message, matched);
  }
  if (stashed) {
    matched = complete(*stashed);
    *message = hand_out(comm, std::move(stashed));
  }
  if (*flag) copy_status(matched, status);
  return MPI_SUCCESS;
}
THINWIRE_ALSO_PMPI(Improbe);

extern "C" int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                          MPI_Status* status) {
  if (untouched(comm, source)) return real().Mprobe(source, tag, comm, message, status);
  // Another thread may take what this one saw, so seeing is not having.
  for (int flag = 0;;) {
    const int error = MPI_Improbe(source, tag, comm, &flag, message, status);
    if (error != MPI_SUCCESS || flag) return error;
    sched_yield();
  }
}
THINWIRE_ALSO_PMPI(Mprobe);

namespace {

int receive_message(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                    MPI_Status* status) {
  MPI_Comm comm = MPI_COMM_WORLD;  // of the MPI's own messages it is not known here
  const bool gpu = on_device(buffer, count, type);
  const auto stashed = redeem(*message, comm);
  if (!stashed && may_be_shared(gpu)) {
    return receive_matched({buffer, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, gpu}, message,
                           status);
  }
  if (!stashed) return real().Mrecv(buffer, count, type, message, status);
  *message = MPI_MESSAGE_NULL;
  return receive_stashed(*stashed, {buffer, count, type, stashed->source, stashed->tag, comm, gpu},
                         status);
}

int receive_message_later(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                          MPI_Request* request) {
  MPI_Comm comm = MPI_COMM_WORLD;  // as above
  const bool gpu = on_device(buffer, count, type);
  auto stashed = redeem(*message, comm);
  if (!stashed && may_be_shared(gpu)) {
    return receive_matched_later({buffer, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, gpu},
                                 message, request);
  }
  if (!stashed) return real().Imrecv(buffer, count, type, message, request);
  *message = MPI_MESSAGE_NULL;
  return receive_stashed_later(
      std::move(stashed), {buffer, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, gpu}, request);
}

}  // namespace

#define THINWIRE_RECEIVE_MESSAGE(entry, Count, call, Result, function)                           \
  extern "C" int MPI_##entry(void* buffer, Count count, MPI_Datatype type, MPI_Message* message, \
                             Result* result) {                                                   \
    return function(buffer, count, type, message, result);                                       \
  }                                                                                              \
  THINWIRE_ALSO_PMPI(entry)

THINWIRE_BOTH_COUNTS(THINWIRE_RECEIVE_MESSAGE, Mrecv, MPI_Status, receive_message);
THINWIRE_BOTH_COUNTS(THINWIRE_RECEIVE_MESSAGE, Imrecv, MPI_Request, receive_message_later);
