// The probes, and the receives of probed messages.
#include <sched.h>

#include <mutex>
#include <unordered_map>

#include "shim/mpi/entry/nonblocking.h"
#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/early_messages.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/world.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/guards.h"
#include "shim/mpi/state/state.h"

using namespace thinwire::mpi;

namespace {

// A message that MPI_Mprobe handed out under a token of ours.
struct HandedOut {
  Token token;
  std::shared_ptr<EarlyMessage> early;
};

std::mutex g_handed_out_mutex;
std::unordered_map<MPI_Message, HandedOut> g_handed_out;

Found look_until_found(MPI_Comm comm, int source, int tag, Take take) {
  while (true) {
    Found found = look(comm, source, tag, take);
    if (found.any || found.error != MPI_SUCCESS) return found;
    progress_orphans();
    sched_yield();
  }
}

// Asked by every probe first. Receives that the program freed go on here whatever is
// probed.
bool untouched(MPI_Comm comm, int source) {
  give_up_guard();
  progress_orphans();
  return !shim_is_active() || !may_receive_compressed(comm, source);
}

// The MPI's own handle ends if the message's size is asked for, and the program's must not.
MPI_Message hand_out(Found& found) {
  if (!found.early) return found.handle;
  HandedOut one{make_token(), std::move(found.early)};
  const MPI_Message handle = one.token.message;
  const std::lock_guard lock(g_handed_out_mutex);
  g_handed_out.emplace(handle, std::move(one));
  return handle;
}

std::shared_ptr<EarlyMessage> redeem(MPI_Message handle) {
  HandedOut one;
  {
    const std::lock_guard lock(g_handed_out_mutex);
    const auto found = g_handed_out.find(handle);
    if (found == g_handed_out.end()) return nullptr;
    one = std::move(found->second);
    g_handed_out.erase(found);
  }
  spend_token(one.token);
  return one.early;
}

}  // namespace

extern "C" int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (untouched(comm, source)) return real().Probe(source, tag, comm, status);
  const Found found = look_until_found(comm, source, tag, Take::kNo);
  if (found.any) found.tell(status);
  return found.error;
}
THINWIRE_ALSO_PMPI(Probe);

extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (untouched(comm, source)) return real().Iprobe(source, tag, comm, flag, status);
  const Found found = look(comm, source, tag, Take::kNo);
  *flag = found.any;
  if (found.any) found.tell(status);
  return found.error;
}
THINWIRE_ALSO_PMPI(Iprobe);

extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                           MPI_Status* status) {
  if (untouched(comm, source)) return real().Improbe(source, tag, comm, flag, message, status);
  Found found = look(comm, source, tag, Take::kYes);
  *flag = found.any;
  if (!found.any) return found.error;
  found.tell(status);
  *message = hand_out(found);
  return MPI_SUCCESS;
}
THINWIRE_ALSO_PMPI(Improbe);

extern "C" int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                          MPI_Status* status) {
  if (untouched(comm, source)) return real().Mprobe(source, tag, comm, message, status);
  Found found = look_until_found(comm, source, tag, Take::kYes);
  if (!found.any) return found.error;
  found.tell(status);
  *message = hand_out(found);
  return MPI_SUCCESS;
}
THINWIRE_ALSO_PMPI(Mprobe);

namespace {

// The communicator of the MPI's own messages is not known here.
Incoming incoming(void* buffer, MPI_Count count, MPI_Datatype type, const EarlyMessage* early) {
  const MPI_Comm comm = early == nullptr ? MPI_COMM_WORLD : early->comm();
  return {buffer, count, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, on_device(buffer, count, type)};
}

int receive_message(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                    MPI_Status* status) {
  auto early = redeem(*message);
  const Incoming wanted = incoming(buffer, count, type, early.get());
  if (!early) return receive_matched(wanted, message, status);
  *message = MPI_MESSAGE_NULL;
  return receive_early(std::move(early), wanted, status);
}

int receive_message_later(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
                          MPI_Request* request) {
  auto early = redeem(*message);
  const Incoming wanted = incoming(buffer, count, type, early.get());
  if (!early) return receive_matched_later(wanted, message, request);
  *message = MPI_MESSAGE_NULL;
  return receive_early_later(std::move(early), wanted, request);
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
