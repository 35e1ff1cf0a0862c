#include "comm.h"

#include <chrono>
#include <cstdlib>
#include <random>
#include <shared_mutex>
#include <thread>
#include <unordered_set>

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

// On a link of so many bytes a second, one way; without that, none.
std::chrono::nanoseconds time_on_link(std::size_t bytes) {
  static const double rate = [] {
    const char* const named = std::getenv("FAKE_NCCL_RATE");
    return named == nullptr ? 0.0 : std::strtod(named, nullptr);
  }();
  if (rate <= 0) return {};
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / rate));
}

bool exchange(ncclComm& comm, const Body& before) {
  // One that does not block may be in progress, which may end at any moment.
  const int error = comm.error;
  if (error != ncclSuccess && error != ncclInProgress) return false;
  Exchange messages(*comm.segment, comm.rank, comm.ranks);
  before(messages);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = messages.run();
  std::this_thread::sleep_until(begin + time_on_link(messages.bytes_out()));
  if (outcome == Outcome::kMismatch) set_error(comm, ncclInternalError);
  if (outcome == Outcome::kStopped && !comm.revoked) set_error(comm, ncclRemoteError);
  return outcome == Outcome::kDone;
}

}  // namespace

ncclResult_t open(ncclComm& comm, const ncclComm* parent) {
  const std::string name = "/thinwire-fake-nccl-" + std::to_string(comm.id);
  comm.segment = join(name, comm.rank, comm.ranks, [&comm, parent] {
    return comm.given_up || (parent != nullptr && parent->given_up);
  });
  return comm.segment == nullptr ? ncclSystemError : ncclSuccess;
}

namespace {

// As threads and networks have it: mostly at once, now and then late.
void linger() {
  static thread_local std::mt19937 random(std::random_device{}());
  const unsigned dice = random() % 64;
  if (dice < 32) return;
  const unsigned most = dice == 63 ? 5000 : 300;
  std::this_thread::sleep_for(std::chrono::microseconds(random() % most));
}

}  // namespace

ncclResult_t do_later(std::vector<ncclComm_t> comms, std::function<ncclResult_t()> work) {
  for (const ncclComm_t each : comms) {
    int none = ncclSuccess;
    each->error.compare_exchange_strong(none, ncclInProgress);
    ++each->jobs;
  }
  std::thread([comms = std::move(comms), work = std::move(work)] {
    linger();
    const ncclResult_t result = work();
    linger();
    for (const ncclComm_t each : comms) {
      int before = ncclInProgress;
      each->error.compare_exchange_strong(before, result);
      --each->jobs;  // the last look at it: the program may end it
    }
  }).detach();
  return ncclInProgress;
}

void wait_for_jobs(ncclComm_t comm) {
  while (comm->jobs > 0) std::this_thread::yield();
}

void enqueue(ncclComm_t comm, cudaStream_t stream, Body before, std::function<void()> after) {
  const auto again = [=](cudaStream_t on) { enqueue(comm, on, before, after); };
  if (is_kept(stream, again)) return;
  stream_of(stream).put(
      [comm, ticket = take_ticket(*comm), before = std::move(before), after = std::move(after)] {
        wait_for_turn(*comm, ticket);
        if (exchange(*comm, before) && after) after();
        pass_turn(*comm);
      });
}

ncclResult_t run_now(ncclComm_t comm, const Body& before) {
  wait_for_turn(*comm, take_ticket(*comm));
  const bool done = exchange(*comm, before);
  pass_turn(*comm);
  const int error = comm->error;
  if (done || error == ncclInProgress) return done ? ncclSuccess : ncclRemoteError;
  return static_cast<ncclResult_t>(error);
}

void wait_for_calls(ncclComm_t comm) {
  std::unique_lock lock(comm->mutex);
  comm->turned.wait(lock, [&] { return comm->turn == comm->called; });
}

namespace {

struct Living {
  std::shared_mutex mutex;
  std::unordered_set<ncclComm_t> all;
};

// Streams may outlive whatever is destroyed at the end.
Living& living() {
  static Living* const made = new Living;
  return *made;
}

}  // namespace

void begin_life(ncclComm_t comm) {
  const std::lock_guard lock(living().mutex);
  living().all.insert(comm);
}

void end_life(ncclComm_t comm) {
  const std::lock_guard lock(living().mutex);
  living().all.erase(comm);
}

bool is_alive(ncclComm_t comm) {
  const std::shared_lock lock(living().mutex);
  return living().all.contains(comm);
}

ncclResult_t usable(ncclComm_t comm) {
  if (!is_alive(comm)) return ncclInvalidArgument;
  if (comm->finalized || comm->suspended || comm->revoked) return ncclInvalidUsage;
  const int error = comm->error;
  return error == ncclInProgress ? ncclInvalidArgument : static_cast<ncclResult_t>(error);
}

ncclResult_t usable_now(ncclComm_t comm) {
  if (is_alive(comm) && !comm->blocking && comm->error == ncclInProgress) {
    comm->error = ncclInvalidArgument;
  }
  return usable(comm);
}

}  // namespace fake_nccl
