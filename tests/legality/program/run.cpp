#include "run.h"

#include <atomic>
#include <cstdio>

#include "random.h"

namespace legality {

Options options;
Place place;
int world_rank, world_size;

namespace {

std::atomic<bool> marks[kFeatures], left_out[kFeatures];
std::atomic<int> complained{0};

const char* const kNames[] = {
#define FEATURE(name) #name,
#include "features.inc"
#undef FEATURE
};

}  // namespace

const char* name_of(Feature feature) { return kNames[static_cast<std::size_t>(feature)]; }

bool allowed(Feature feature) { return !options.without[static_cast<std::size_t>(feature)]; }

bool dropped(int phase, int operation) {
  return options.dropped.count({phase, -1}) != 0 || options.dropped.count({phase, operation}) != 0;
}

void mark(Feature feature) { marks[static_cast<std::size_t>(feature)] = true; }

bool admit(Feature feature) {
  if (allowed(feature)) return mark(feature), true;
  left_out[static_cast<std::size_t>(feature)] = true;
  return false;
}

Marks take_marks() {
  Marks taken;
  for (std::size_t at = 0; at < kFeatures; ++at) {
    taken.had[at] = marks[at].exchange(false);
    taken.left_out[at] = left_out[at].exchange(false);
  }
  return taken;
}

void complain(const std::string& what) {
  // A seed that went wrong once has little more to say.
  if (++complained > 20) return;
  std::printf("BAD seed %llu phase %d rank %d: %s\n", static_cast<unsigned long long>(place.seed),
              place.phase, world_rank, what.c_str());
  std::fflush(stdout);
}

int complaints() { return complained.exchange(0); }

void must(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  complain(std::string(call) + ": " + text);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

std::uint64_t Record::mix_in(std::uint64_t sum, std::uint64_t value) { return join(sum, value); }

}  // namespace legality
