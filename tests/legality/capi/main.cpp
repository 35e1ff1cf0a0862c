// capi_legality: random legal use of the C API's communicators between threads, a program a seed.
// capi_legality [FIRST:END] [--features] runs what once failed and those seeds.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "draw.h"
#include "marks.h"
#include "program.h"

namespace legality {
namespace {

constexpr unsigned kSeconds = 120;  // until a seed counts as hung
constexpr std::uint64_t kMany = 200;
constexpr std::uint64_t kEnoughToCount = 70;
volatile std::uint64_t g_running = 0;

// Seeds that once failed.
const std::vector<std::uint64_t> kKept{322, 353, 432, 577, 1288};

void on_alarm(int) {
  char line[64];
  const int length = std::snprintf(line, sizeof line, "HANG seed %llu\n",
                                   static_cast<unsigned long long>(g_running));
  if (write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) < 0) _exit(2);
  _exit(4);
}

std::map<std::string, std::uint64_t> run(const std::vector<std::uint64_t>& seeds) {
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t at = 0; at < kFeatures; ++at) counts[name_of(static_cast<Feature>(at))] = 0;
  for (const std::uint64_t seed : seeds) {
    g_running = seed;
    alarm(kSeconds);
    begin_seed(seed);
    run_program(seed);
    const std::bitset<kFeatures> marks = take_marks();
    for (std::size_t at = 0; at < kFeatures; ++at)
      counts[name_of(static_cast<Feature>(at))] += marks[at];
  }
  alarm(0);
  return counts;
}

// A feature that few programs have is not tested. 0 if all is well.
int tell(const std::map<std::string, std::uint64_t>& counts, std::uint64_t seeds, bool all) {
  int rare = 0;
  for (const auto& [name, count] : counts) {
    const double share = 100 * static_cast<double>(count) / static_cast<double>(seeds);
    const bool is_rare = seeds >= kEnoughToCount && share < 5;
    if (all || is_rare) std::printf("%5.1f%% %s\n", share, name.c_str());
    rare += is_rare;
  }
  std::printf("%llu seeds, %zu specs, %d complaints, %d rare features\n",
              static_cast<unsigned long long>(seeds), all_specs().size(), complaints(), rare);
  return complaints() > 0 || rare > 0;
}

}  // namespace
}  // namespace legality

int main(int argc, char** argv) {
  using namespace legality;
  ::signal(SIGALRM, on_alarm);
  std::vector<std::uint64_t> seeds = kKept;
  std::uint64_t first = 0, end = kMany;
  bool all = false;
  for (int at = 1; at < argc; ++at) {
    const char* colon = std::strchr(argv[at], ':');
    all = all || std::strcmp(argv[at], "--features") == 0;
    if (colon != nullptr) first = std::strtoull(argv[at], nullptr, 10);
    if (colon != nullptr) end = std::strtoull(colon + 1, nullptr, 10);
  }
  for (std::uint64_t seed = first; seed < end; ++seed) seeds.push_back(seed);
  return tell(run(seeds), seeds.size(), all);
}
