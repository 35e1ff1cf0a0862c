// Prints how fast blocks that did not fit their slots go from helper to helper, each way at once,
// and how much processor that takes: two ranks in a process each, over the loopback.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "agree/job.h"

namespace {

using namespace job;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunk = 256U << 10;  // of a stream's mailbox
constexpr std::size_t kBlock = 8U << 20;

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// As the service thread does: a chunk out, then what has come. False: what came is not what the
// other rank gave.
bool exchange(Communicator& comm, int rank, std::uint64_t call, std::vector<std::byte>& values,
              std::vector<std::byte>& got) {
  std::size_t given = 0, taken = 0;
  const auto marked = [&](int of) { return static_cast<std::byte>(call + 7U * of); };
  values[0] = values[kBlock - 1] = marked(rank);
  while (given < kBlock || taken < kBlock) {
    if (given < kBlock) {
      comm.give({.from = rank, .call = call}, kToAll, kBlock,
                std::span(values).subspan(given, kChunk));
      given += kChunk;
    }
    if (taken == kBlock) continue;
    const Taken now = comm.take({.from = 1 - rank, .call = call}, std::span(got).subspan(taken),
                                given < kBlock ? 0ms : 100ms);
    if (now.outcome != Outcome::kKnown) return false;
    taken += now.bytes;
  }
  return got[0] == marked(1 - rank) && got[kBlock - 1] == marked(1 - rank);
}

int run_rank(int rank, const int* pipe, std::uint64_t calls) {
  Id id = bare_id();
  Helper& helper = process_helper({});
  if (rank == 0) {
    helper.stamp(id);
    if (write(pipe[1], &id, sizeof id) != sizeof id) return 1;
  } else if (read(pipe[0], &id, sizeof id) != sizeof id) {
    return 1;
  }
  const CommunicatorRef comm = helper.open(id, rank, 2, {});
  if (!reaches(comm, State::kReady)) return 1;
  std::vector<std::byte> values(kBlock), got(kBlock);
  if (!exchange(*comm, rank, 0, values, got)) return 1;
  const double before = processor_seconds();
  const auto begin = Clock::now();
  for (std::uint64_t call = 1; call <= calls; ++call) {
    if (!exchange(*comm, rank, call, values, got)) return 1;
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  leave_process_helper();  // what was given is on its way
  const double mebibytes = static_cast<double>(calls * kBlock) / (1U << 20);
  std::printf("rank %d: %.0f MiB/s each way, %.2f ms of processor a MiB each way\n", rank,
              mebibytes / took, 1000 * (processor_seconds() - before) / mebibytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t calls = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 64;
  int pipe[2];
  if (::pipe(pipe) != 0) return 1;
  const pid_t other = fork();
  if (other < 0) return 1;
  const int outcome = run_rank(other == 0 ? 1 : 0, pipe, calls);
  if (other == 0) {
    std::fflush(stdout);
    std::_Exit(outcome);
  }
  int status = 0;
  waitpid(other, &status, 0);
  return outcome != 0 || status != 0;
}
