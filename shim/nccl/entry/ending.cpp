#include "entry/ending.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "entry/group.h"
#include "entry/unfinished.h"
#include "native/call_native.h"
#include "run/compressor.h"
#include "run/memory.h"
#include "run/service.h"
#include "state/communicators.h"
#include "state/settings.h"

namespace thinwire::nccl {

// Before NCCL waits for a thread or a stream of this process that waits here.
void stop_calls(ncclComm_t comm) {
  if (!settings().could_compress) return;
  Communicator* const known = begun(comm);
  if (known == nullptr) return;
  drop_unfinished(*known);
  with_begun(comm, [](Communicator* found) {
    if (found == nullptr) return;
    if (Compressor* const compressor = found->compressor.load()) {
      compressor->revoke();
    } else if (found->agreed) {
      found->agreed->revoke();
    }
  });
}

namespace {

// The last one of the process has ended, so that no work of NCCL's on a GPU waits for another rank
// any more, which freeing memory might wait for. Streams that hold it up for long keep theirs.
void give_memory_back(const Compressor& compressor) {
  using namespace std::chrono_literals;
  for (int look = 0; look < 200 && !compressor.is_over(); ++look)
    std::this_thread::sleep_for(100us);
  give_idle();
}

std::vector<Communicator*>& ended_in_group() { return of_thread<std::vector<Communicator*>>(); }

}  // namespace

void end_agreed(const Communicator& ended, bool is_gone, bool waits) {
  if (Compressor* const compressor = ended.compressor.load()) {
    compressor->end(is_gone);
    see_to_its_end(*compressor);
    if (is_gone && !in_group() && !is_any_living()) give_memory_back(*compressor);
  } else if (ended.agreed) {
    ended.agreed->close();
  }
  if (waits && ended.agreed) ended.agreed->wait_for_goodbye();
}

void ends_with_group(Communicator& ended) {
  allowed([&] { ended_in_group().push_back(&ended); });
}

void let_go_after_group(ncclResult_t result) {
  if (ended_in_group().empty()) return;
  const std::vector<Communicator*> all = std::exchange(ended_in_group(), {});
  if (result != ncclSuccess) return;
  const Compressor* const last = all.back()->compressor.load();
  if (last != nullptr && !is_any_living()) give_memory_back(*last);
  for (Communicator* const each : all) let_go(*each);
}

ncclResult_t pass_finalizations(std::span<const ncclComm_t> comms) {
  ncclResult_t first = ncclSuccess;
  for (const ncclComm_t each : comms) {
    const ncclResult_t result = THINWIRE_PASS(CommFinalize, each);
    if (!is_taken(result) && first == ncclSuccess) first = result;
  }
  return first;
}

void note_finalized(ncclComm_t comm) {
  Communicator* const found = begun(comm);
  if (found == nullptr || found->finalized.exchange(true)) return;
  allowed([&] { end_agreed(*found, false, found->blocks); });
}

ncclResult_t finalize_all(std::span<const ncclComm_t> comms) {
  if (comms.empty()) return ncclSuccess;
  THINWIRE_PASS(GroupStart);
  const ncclResult_t passed = pass_finalizations(comms);
  const ncclResult_t ended = THINWIRE_PASS(GroupEnd);
  const ncclResult_t result = passed == ncclSuccess ? ended : passed;
  if (is_taken(result)) {
    for (const ncclComm_t each : comms) note_finalized(each);
  }
  return result;
}

}  // namespace thinwire::nccl
