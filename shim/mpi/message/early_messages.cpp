#include "shim/mpi/message/early_messages.h"

#include <algorithm>

#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/length.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/guards.h"

namespace thinwire::mpi {
namespace {

std::shared_ptr<EarlyMessage> find(CommFacts& facts, int source, int tag, Take take) {
  const std::lock_guard lock(facts.mutex);
  const auto at = std::find_if(facts.early_messages.begin(), facts.early_messages.end(),
                               [&](const auto& early) { return early->matches(source, tag); });
  if (at == facts.early_messages.end()) return nullptr;
  if (take == Take::kNo) return *at;
  auto early = std::move(*at);
  facts.early_messages.erase(at);
  --early_message_count;
  return early;
}

// Whether a message may be one that a probe must not report as it is.
bool may_be_frame(MPI_Comm comm, const MPI_Status& status) {
  const std::uint64_t bytes = wire_bytes_of(status);
  // Shorter ones can't be: senders pad to this process' inspection threshold.
  return bytes >= thresholds.receive && is_suspicious(bytes) &&
         may_receive_compressed(comm, status.MPI_SOURCE);
}

// Matches the oldest message of `source`. With any tag, so that the order of a source's messages is
// kept for whatever receive comes next.
std::shared_ptr<EarlyMessage> pull(MPI_Comm comm, CommFacts& facts, int source) {
  int found = 0;
  MPI_Message handle;
  MPI_Status status;
  const int error = real().Improbe(source, MPI_ANY_TAG, comm, &found, &handle, &status);
  if (error != MPI_SUCCESS || !found) return nullptr;
  auto early = std::make_shared<EarlyMessage>(comm, handle, status, may_be_frame(comm, status));
  const std::lock_guard lock(facts.mutex);
  facts.early_messages.push_back(early);
  ++early_message_count;
  return early;
}

void look_in_mpi(MPI_Comm comm, int source, int tag, Take take, CommFacts& facts, Found& found) {
  const int from = found.status.MPI_SOURCE;
  if (may_be_frame(comm, found.status)) {
    while (const auto early = pull(comm, facts, from)) {
      if (early->matches(source, tag)) break;
    }
    found.early = find(facts, from, tag, take);
    found.any = found.early != nullptr;
    return;
  }
  int flag = 1;
  if (take == Take::kYes) {
    found.error =
        real().Improbe(from, found.status.MPI_TAG, comm, &flag, &found.handle, &found.status);
  }
  found.any = found.error == MPI_SUCCESS && flag != 0;
}

}  // namespace

void Found::tell(MPI_Status* to) const {
  if (early) return early->tell(to);
  copy_status(status, to);
}

std::shared_ptr<EarlyMessage> take_early(MPI_Comm comm, int source, int tag) {
  if (comm == MPI_COMM_NULL) return nullptr;
  CommFacts* facts = known_facts(comm);
  return facts == nullptr ? nullptr : find(*facts, source, tag, Take::kYes);
}

Found look(MPI_Comm comm, int source, int tag, Take take) {
  Found found;
  int flag = 0;
  // Without the guard: here the MPI says what is wrong with the arguments.
  found.error = real().Iprobe(source, tag, comm, &flag, &found.status);
  if (found.error != MPI_SUCCESS) return found;
  if (!flag && early_message_count.load(std::memory_order_acquire) == 0) return found;
  CommFacts& facts = comm_facts(comm);
  const PullGuard guard;
  found.early = find(facts, source, tag, take);
  found.any = found.early != nullptr;
  // Nothing was seen, so it is not asked again: MPICH says so of a probe that it refused, once the
  // program's error handler has returned, and would call the handler a second time.
  if (found.any || !flag) return found;
  // Another thread may have taken by now what was seen.
  if (!guard.alone()) found.error = real().Iprobe(source, tag, comm, &flag, &found.status);
  if (found.error == MPI_SUCCESS && flag) {
    look_in_mpi(comm, source, tag, take, facts, found);
  }
  return found;
}

}  // namespace thinwire::mpi
