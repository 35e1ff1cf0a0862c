// Prints what agreement costs on this machine: a lookup, the way from init to ready, a commit, by
// the number of ranks, which are threads with a helper each and talk over the loopback.
#include <algorithm>
#include <cstdio>

#include "agree/job.h"

namespace {

using namespace job;
using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Times look-ups of a kind that has a value, and of one that has none.
void time_lookups(Job& job, std::uint64_t known, std::uint64_t& call) {
  constexpr int kCalls = 1'000'000;
  for (const std::uint64_t key : {known, std::uint64_t{999}}) {
    std::vector<double> rounds;
    for (int round = 0; round < 7; ++round) {
      const auto begin = Clock::now();
      for (int times = 0; times < kCalls; ++times) {
        job.all[0].comm->collectives().value(call++, key);
      }
      rounds.push_back(1000 * microseconds_since(begin) / kCalls);
    }
    std::printf("lookup %s: %.1f ns\n", key == known ? "of a known class" : "of another",
                median(rounds));
  }
}

// Hosts in step, which wait at their limit.
double time_of_commit(Job& job, std::uint64_t key, std::uint64_t& call) {
  const auto begin = Clock::now();
  for (Rank& each : job.all) each.comm->collectives().offer(key, {100, 0});
  for (bool coded = false; !coded; ++call) {
    for (Rank& each : job.all) {
      coded = each.comm->collectives().value(call, key).value.capacity != 0;
    }
    if (call % 64 == 0) std::this_thread::sleep_for(10us);
  }
  return microseconds_since(begin);
}

void time_job(int ranks) {
  std::vector<double> starts, commits;
  for (int round = 0; round < 5; ++round) {
    Job job(ranks);
    const Id id = job.make_id();
    const auto begin = Clock::now();
    for (Rank& each : job.all) job.open(each.rank, id);
    while (!std::ranges::all_of(
        job.all, [](Rank& each) { return each.comm->membership().state == State::kReady; })) {
      std::this_thread::sleep_for(20us);
    }
    starts.push_back(microseconds_since(begin));
    std::uint64_t call = 0;
    for (std::uint64_t key = 0; key < 20; ++key) commits.push_back(time_of_commit(job, key, call));
    if (ranks == 2 && round == 0) time_lookups(job, 3, call);
  }
  std::printf("%3d ranks: init to ready %.2f ms, offer to commit %.0f us\n", ranks,
              median(starts) / 1000, median(commits));
}

}  // namespace

int main() {
  for (const int ranks : {2, 4, 8, 16, 64, 256}) time_job(ranks);
}
