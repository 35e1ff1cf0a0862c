// Many ranks start at once, in several processes, each a thread with a helper of its own over the
// loopback: prints how long it takes until all know that all have the library, and how many
// connections a rank then has at most. Fails if it takes longer than MOST seconds, or if a
// rank has more connections than the tree needs.
//
// agree_many RANKS PROCESSES MOST
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "agree/job.h"
#include "agree/limits.h"
#include "agree/pipe.h"

namespace {

using namespace job;
using Clock = std::chrono::steady_clock;

// Findings about the ranks of one process.
struct Found {
  bool ready = false;
  std::size_t connections = 0;  // at most
};

// A registrar has a connection for each rank for a moment.
void allow_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Ranks close their connections to the registrar after they are ready.
std::size_t most_connections(std::vector<Rank>& ranks) {
  const auto most = [&] {
    std::size_t found = 0;
    for (Rank& each : ranks) found = std::max(found, each.helper->connections());
    return found;
  };
  eventually([&] { return most() <= kFanOut + 1; }, 5s);
  return most();
}

[[noreturn]] void run_process(int number, int first, int count, int ranks, const Pipe& ids,
                              const Pipe& made, const Pipe& starts, const Pipe& results,
                              const Pipe& ends) {
  Options options;
  options.registration = options.connecting = 60s;
  std::vector<Rank> own;
  for (int rank = first; rank < first + count; ++rank) {
    own.push_back({rank, std::make_unique<Helper>(options), nullptr});
  }
  if (number == 0) {
    Id id = bare_id();
    own[0].helper->stamp(id);
    made.put(id);
  }
  const Id id = ids.take<Id>();
  starts.take<char>();
  for (Rank& each : own) each.comm = each.helper->open(id, each.rank, ranks, {{"codec", "mpc"}});
  Found found;
  found.ready = eventually(
      [&] {
        return std::ranges::all_of(own,
                                   [](Rank& each) { return each.comm->state() == State::kReady; });
      },
      60s);
  results.put(found.ready);
  ends.take<char>();
  found.connections = most_connections(own);
  results.put(found);
  ends.take<char>();
  std::_Exit(0);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  const int ranks = std::atoi(words[1]), processes = std::atoi(words[2]);
  const double most = std::atof(words[3]);
  allow_descriptors();
  const Pipe ids, made, starts, results, ends;
  for (int number = 0; number < processes; ++number) {
    const int first = ranks * number / processes, next = ranks * (number + 1) / processes;
    if (fork() == 0) {
      run_process(number, first, next - first, ranks, ids, made, starts, results, ends);
    }
  }
  const auto for_all = [&](const auto& then) {
    for (int number = 0; number < processes; ++number) then();
  };
  const Id id = made.take<Id>();
  for_all([&] { ids.put(id); });
  std::this_thread::sleep_for(std::chrono::milliseconds(ranks / 2));  // threads have begun
  const auto begin = Clock::now();
  for_all([&] { starts.put('s'); });
  bool ready = true;
  for_all([&] { ready = results.take<bool>() && ready; });
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for_all([&] { ends.put('e'); });
  std::size_t connections = 0;
  for_all([&] { connections = std::max(connections, results.take<Found>().connections); });
  for_all([&] { ends.put('e'); });
  while (wait(nullptr) > 0) {
  }
  std::printf("%d ranks in %d processes: %s after %.2f s, at most %zu connections a rank\n", ranks,
              processes, ready ? "ready" : "not ready", seconds, connections);
  return ready && seconds < most && connections <= kFanOut + 1 ? 0 : 1;
}
