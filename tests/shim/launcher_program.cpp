// An MPI program in which some ranks publish capabilities, as the preload library does around
// MPI_Init, and then ask for everybody's. It loads the MPI by name and calls only functions without
// handles, so one build serves every MPI.
//
// launcher_program MPI-LIBRARY RANKS-THAT-PUBLISH LATE-RANK THREAD-LEVEL RANKS
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "shim/mpi/job/job.h"
#include "shim/mpi/native/mpi_symbols.h"

namespace {

void* g_mpi = nullptr;

int call(const char* name, int level = 0) {
  void* found = dlsym(g_mpi, name);
  if (found == nullptr) return -1;
  if (std::string(name) == "MPI_Finalize") return reinterpret_cast<int (*)()>(found)();
  int provided = 0;
  const auto init = reinterpret_cast<int (*)(int*, char***, int, int*)>(found);
  return init(nullptr, nullptr, level, &provided);
}

void append(std::string& list, int number) {
  list += (list.empty() ? "" : ",") + std::to_string(number);
}

void say_what_is_known(const thinwire::mpi::Job& job, int rank, int ranks, bool askable) {
  std::string capabilities, unknown, local;
  for (int other = 0; other < ranks; ++other) {
    const auto found = job.capabilities_of(other);
    if (!found.known) append(unknown, other);
    // Each rank's capabilities differ from the others'.
    if (found.capabilities && found.capabilities->inspect_threshold == 1000u + other)
      append(capabilities, other);
    if (job.on_this_node(other)) append(local, other);
  }
  std::printf("rank=%d reachable=%d askable=%d capabilities=%s unknown=%s local=%s name=%s\n", rank,
              job.reachable(), askable, capabilities.c_str(), unknown.c_str(), local.c_str(),
              job.name().c_str());
  std::fflush(stdout);
}

}  // namespace

namespace thinwire::mpi {
void* find_symbol(const char* name) { return dlsym(g_mpi, name); }
}  // namespace thinwire::mpi

int main(int count, char** words) {
  if (count != 6) return 2;
  g_mpi = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
  if (g_mpi == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const int ranks = std::atoi(words[5]);
  const int level = std::atoi(words[4]);
  const int rank = thinwire::mpi::rank_by_launcher().value_or(-1);
  if (rank == std::atoi(words[3])) std::this_thread::sleep_for(std::chrono::seconds(1));
  const auto list = thinwire::mpi::read_list<int>(words[2]);
  const bool publishes = std::set<int>(list.begin(), list.end()).contains(rank);
  thinwire::mpi::Job job;
  if (publishes) {
    thinwire::mpi::Capabilities capabilities;
    capabilities.inspect_threshold = 1000u + rank;
    capabilities.codecs = {0, 1, 65535};
    job.publish(capabilities);
  }
  if (call("MPI_Init_thread", level) != 0) return 3;
  if (publishes) {
    job.learn_locality(0);
    const bool askable = level < 3 || job.expect_threads();
    say_what_is_known(job, rank, ranks, askable);
  }
  job.leave();
  return call("MPI_Finalize") == 0 ? 0 : 4;
}
