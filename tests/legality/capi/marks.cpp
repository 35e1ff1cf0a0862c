#include "marks.h"

#include <atomic>
#include <cstdio>

namespace legality {
namespace {

std::atomic<bool> g_marks[kFeatures];
std::atomic<std::uint64_t> g_seed{0};
std::atomic<int> g_complaints{0}, g_of_seed{0};

const char* const kNames[] = {
#define FEATURE(name) #name,
#include "features.inc"
#undef FEATURE
};

}  // namespace

const char* name_of(Feature feature) { return kNames[static_cast<std::size_t>(feature)]; }

void mark(Feature feature) { g_marks[static_cast<std::size_t>(feature)] = true; }

std::bitset<kFeatures> take_marks() {
  std::bitset<kFeatures> taken;
  for (std::size_t at = 0; at < kFeatures; ++at) taken[at] = g_marks[at].exchange(false);
  return taken;
}

void begin_seed(std::uint64_t seed) { g_seed = seed, g_of_seed = 0; }

void complain(const std::string& what) {
  ++g_complaints;
  // A seed that went wrong once has little more to say.
  if (++g_of_seed > 5) return;
  std::printf("BAD seed %llu: %s\n", static_cast<unsigned long long>(g_seed.load()), what.c_str());
  std::fflush(stdout);
}

int complaints() { return g_complaints; }

}  // namespace legality
