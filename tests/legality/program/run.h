// The options of the whole run, and the results of the seed in hand.
#pragma once

// The MPI of this build.
#ifdef SHIM_TEST_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif

#include <bitset>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace legality {

enum class Feature {
#define FEATURE(name) name##_,
#include "features.inc"
#undef FEATURE
  kCount
};
constexpr std::size_t kFeatures = static_cast<std::size_t>(Feature::kCount);

struct Options {
  std::set<std::pair<int, int>> dropped;  // phase and operation; operation -1 is all of it
  std::bitset<kFeatures> without;
  bool threads = false;
  bool lossy = false;
  double tolerance = std::numeric_limits<double>::infinity();  // of one coding
  int seconds = 60;                                            // until a seed counts as hung
};
extern Options options;

// The seed and phase of the process, for whoever is asked after a hang.
struct Place {
  volatile std::uint64_t seed = 0;
  volatile int phase = -1;
};
extern Place place;
extern int world_rank, world_size;

const char* name_of(Feature feature);
bool allowed(Feature feature);
bool dropped(int phase, int operation = -1);
void mark(Feature feature);   // by any thread
bool admit(Feature feature);  // what was drawn: marks it, or counts it as left out
struct Marks {
  std::bitset<kFeatures> had, left_out;
};
Marks take_marks();

// A promise of MPI that did not hold, said at once.
void complain(const std::string& what);
int complaints();

// Ends the process if a call that must succeed does not.
void must(int code, const char* call);
#define MUST(call) ::legality::must((call), #call)

// Hashes of a phase's results on this rank; the second leaves out values that a lossy codec may
// change.
struct Record {
  std::uint64_t all = 0, kept = 0;
  void add(std::uint64_t value) { all = mix_in(all, value), kept = mix_in(kept, value); }
  void add(std::uint64_t everything, std::uint64_t without_loss) {
    all = mix_in(all, everything), kept = mix_in(kept, without_loss);
  }
  void add(const Record& other) { add(other.all, other.kept); }
  static std::uint64_t mix_in(std::uint64_t sum, std::uint64_t value);
};

}  // namespace legality
