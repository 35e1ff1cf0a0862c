#include "comm.h"

#include "stream.h"

namespace fake_nccl {
namespace {

void wait_for_turn(ncclComm& comm, std::uint64_t ticket) {
  std::unique_lock lock(comm.mutex);
  comm.turned.wait(lock, [&] { return comm.turn == ticket; });
}

void pass_turn(ncclComm& comm) {
  // Under the lock to the end: whoever waits may delete the communicator.
  const std::lock_guard lock(comm.mutex);
  ++comm.turn;
  comm.turned.notify_all();
}

std::uint64_t take_ticket(ncclComm& comm) {
  const std::lock_guard lock(comm.mutex);
  return comm.called++;
}

void set_error(ncclComm& comm, ncclResult_t error) {
  int none = ncclSuccess;
  comm.error.compare_exchange_strong(none, error);
}

bool exchange(ncclComm& comm, const Body& before) {
  if (comm.error != ncclSuccess) return false;
  Exchange messages(*comm.segment, comm.rank, comm.ranks);
  before(messages);
  const Outcome outcome = messages.run();
  if (outcome == Outcome::kMismatch) set_error(comm, ncclInternalError);
  if (outcome == Outcome::kStopped) set_error(comm, ncclRemoteError);
  return outcome == Outcome::kDone;
}

}  // namespace

ncclResult_t open(ncclComm& comm) {
  const std::string name = "/thinwire-fake-nccl-" + std::to_string(comm.id);
  comm.segment = join(name, comm.rank, comm.ranks, comm.given_up);
  const ncclResult_t result = comm.segment == nullptr ? ncclSystemError : ncclSuccess;
  // From here on the program may destroy it.
  comm.error = result;
  return result;
}

void enqueue(ncclComm_t comm, cudaStream_t stream, Body before, std::function<void()> after) {
  stream_of(stream).put(
      [comm, ticket = take_ticket(*comm), before = std::move(before), after = std::move(after)] {
        wait_for_turn(*comm, ticket);
        if (exchange(*comm, before) && after) after();
        pass_turn(*comm);
      });
}

ncclResult_t run_now(ncclComm_t comm, const Body& before) {
  wait_for_turn(*comm, take_ticket(*comm));
  exchange(*comm, before);
  pass_turn(*comm);
  return static_cast<ncclResult_t>(comm->error.load());
}

void wait_for_calls(ncclComm_t comm) {
  std::unique_lock lock(comm->mutex);
  comm->turned.wait(lock, [&] { return comm->turn == comm->called; });
}

ncclResult_t usable(ncclComm_t comm) {
  if (comm == nullptr) return ncclInvalidArgument;
  if (comm->finalized) return ncclInvalidUsage;
  const int error = comm->error;
  return error == ncclInProgress ? ncclInvalidUsage : static_cast<ncclResult_t>(error);
}

}  // namespace fake_nccl
