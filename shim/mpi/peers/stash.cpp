#include "peers/stash.h"

#include <set>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "process/process.h"
#include "process/shortcut.h"
#include "wire/deliver.h"
#include "wire/length.h"

namespace thinwire::mpi {
namespace {

using Stash = std::deque<std::unique_ptr<Stashed>>;

bool matches(const Stashed& message, int source, int tag) {
  return (source == MPI_ANY_SOURCE || source == message.source) &&
         (tag == MPI_ANY_TAG || tag == message.tag);
}

std::unique_ptr<Stashed> take(Stash& stash, int source, int tag) {
  for (auto at = stash.begin(); at != stash.end(); ++at) {
    if (!matches(**at, source, tag)) continue;
    auto message = std::move(*at);
    stash.erase(at);
    --stashed_messages;
    return message;
  }
  return nullptr;
}

// Makes progress on a stashed message; once it is complete its status says the raw size.
bool is_complete(Stashed& message) {
  if (message.complete) return true;
  int done = 0;
  real().Request_get_status(message.request, &done, &message.status);
  if (!done) return false;
  const std::uint64_t raw = raw_length(message.wire.data(), message.wire_bytes);
  real().Status_set_elements_x(&message.status, MPI_BYTE, static_cast<MPI_Count>(raw));
  message.complete = true;
  return true;
}

// Moves the oldest message of `source` from the MPI to the stash. With any tag, so that the order
// of a source's messages is kept for whatever receive comes next.
bool pull(MPI_Comm comm, Stash& stash, int source) {
  int found = 0;
  MPI_Message handle;
  MPI_Status status;
  real().Improbe(source, MPI_ANY_TAG, comm, &found, &handle, &status);
  if (!found) return false;
  stash.push_back(start_receive(handle, status));
  ++stashed_messages;
  return true;
}

// Looks in the stash. `waiting` gets the sources whose matching message has not arrived in full:
// newer messages of theirs must not be reported before it.
bool look_in_stash(Stash& stash, int source, int tag, Found& found, std::set<int>& waiting) {
  for (auto& message : stash) {
    if (!matches(*message, source, tag) || waiting.contains(message->source)) continue;
    if (!is_complete(*message)) {
      waiting.insert(message->source);
      continue;
    }
    found = {true, true, message->status, MPI_SUCCESS};
    return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Stashed> take_stashed(MPI_Comm comm, int source, int tag) {
  if (comm == MPI_COMM_NULL) return nullptr;
  CommFacts& facts = comm_facts(comm);
  const std::lock_guard lock(facts.mutex);
  return take(facts.stash, source, tag);
}

bool is_suspicious(const MPI_Status& status) {
  const std::uint64_t bytes = wire_bytes_of(status);
  // Shorter ones can't be: senders pad to this process' hook threshold.
  return bytes >= thresholds.receive && is_suspicious(bytes);
}

std::unique_ptr<Stashed> start_receive(MPI_Message handle, const MPI_Status& status) {
  auto message = std::make_unique<Stashed>();
  message->source = status.MPI_SOURCE;
  message->tag = status.MPI_TAG;
  message->wire_bytes = wire_bytes_of(status);
  message->wire = process().pool.acquire(message->wire_bytes);
  const ByteCount as(message->wire_bytes);
  real().Imrecv(message->wire.data(), as.count(), as.type(), &handle, &message->request);
  return message;
}

const MPI_Status& complete(Stashed& message) {
  while (!is_complete(message)) {
  }
  return message.status;
}

bool may_be_pulled(MPI_Comm comm, int source) {
  return shim_is_active() && process().concurrent && may_receive_compressed(comm, source);
}

StashLock::StashLock(MPI_Comm comm, int source) {
  if (comm == MPI_COMM_NULL) return;
  if (stashed_messages.load(std::memory_order_acquire) == 0 && !may_be_pulled(comm, source)) return;
  facts_ = &comm_facts(comm);
  lock_ = std::unique_lock(facts_->mutex);
}

std::unique_ptr<Stashed> StashLock::take(int source, int tag) {
  return facts_ == nullptr ? nullptr : mpi::take(facts_->stash, source, tag);
}

// One non-blocking look, stash first. The lock makes the probe and the pull one step.
Found look(MPI_Comm comm, int source, int tag) {
  CommFacts& facts = comm_facts(comm);
  Found found;
  const std::lock_guard lock(facts.mutex);
  std::set<int> waiting;
  if (look_in_stash(facts.stash, source, tag, found, waiting)) return found;
  int flag = 0;
  MPI_Status status;
  found.error = real().Iprobe(source, tag, comm, &flag, &status);
  if (found.error != MPI_SUCCESS || !flag || waiting.contains(status.MPI_SOURCE)) return found;
  if (!is_suspicious(status)) return {true, false, status, MPI_SUCCESS};
  while (pull(comm, facts.stash, status.MPI_SOURCE)) {
    if (matches(*facts.stash.back(), status.MPI_SOURCE, tag)) break;
  }
  waiting.clear();
  look_in_stash(facts.stash, source, tag, found, waiting);
  return found;
}

}  // namespace thinwire::mpi
