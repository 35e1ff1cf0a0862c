#include "shim/mpi/message/stash.h"

#include <algorithm>

#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/length.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/guards.h"

namespace thinwire::mpi {
namespace {

std::shared_ptr<Probed> find(CommFacts& facts, int source, int tag, Take take) {
  const std::lock_guard lock(facts.mutex);
  const auto at = std::find_if(facts.stash.begin(), facts.stash.end(),
                               [&](const auto& probed) { return probed->matches(source, tag); });
  if (at == facts.stash.end()) return nullptr;
  if (take == Take::kNo) return *at;
  auto probed = std::move(*at);
  facts.stash.erase(at);
  --stashed_messages;
  return probed;
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
std::shared_ptr<Probed> pull(MPI_Comm comm, CommFacts& facts, int source) {
  int found = 0;
  MPI_Message handle;
  MPI_Status status;
  const int error = real().Improbe(source, MPI_ANY_TAG, comm, &found, &handle, &status);
  if (error != MPI_SUCCESS || !found) return nullptr;
  auto probed = std::make_shared<Probed>(comm, handle, status, may_be_frame(comm, status));
  const std::lock_guard lock(facts.mutex);
  facts.stash.push_back(probed);
  ++stashed_messages;
  return probed;
}

void look_in_mpi(MPI_Comm comm, int source, int tag, Take take, CommFacts& facts, Found& found) {
  const int from = found.status.MPI_SOURCE;
  if (may_be_frame(comm, found.status)) {
    while (const auto probed = pull(comm, facts, from)) {
      if (probed->matches(source, tag)) break;
    }
    found.probed = find(facts, from, tag, take);
    found.any = found.probed != nullptr;
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
  if (probed) return probed->tell(to);
  copy_status(status, to);
}

std::shared_ptr<Probed> take_stashed(MPI_Comm comm, int source, int tag) {
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
  if (!flag && stashed_messages.load(std::memory_order_acquire) == 0) return found;
  CommFacts& facts = comm_facts(comm);
  const PullGuard guard;
  found.probed = find(facts, source, tag, take);
  found.any = found.probed != nullptr;
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
