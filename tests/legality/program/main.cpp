// shim_legality: random legal programs of MPI, one a seed. Rank 0 prints a line for each:
// "seed N all HASH kept HASH bad COUNT features BITS phases HASH,HASH,...".
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "collective.h"
#include "program.h"

namespace legality {
namespace {

// May run in a signal handler.
void say_where(const char* what) {
  char line[160];
  const int length =
      std::snprintf(line, sizeof line, "%s seed %llu phase %d rank %d\n", what,
                    static_cast<unsigned long long>(place.seed), place.phase, world_rank);
  if (write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) < 0) _exit(2);
}

void on_alarm(int) {
  say_where("HANG");
  _exit(4);
}

void on_crash(int signal) {
  say_where("CRASH");
  ::signal(signal, SIG_DFL);
  raise(signal);
}

std::vector<std::string> parts(const std::string& text, char between) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string each; std::getline(stream, each, between);) found.push_back(each);
  return found;
}

Feature feature_of(const std::string& name) {
  for (std::size_t at = 0; at < kFeatures; ++at)
    if (name == name_of(static_cast<Feature>(at))) return static_cast<Feature>(at);
  std::fprintf(stderr, "no feature %s\n", name.c_str());
  std::exit(2);
}

// Seeds as 1,2,10:20 (the last one not).
std::vector<std::uint64_t> seeds_of(const std::string& text) {
  std::vector<std::uint64_t> seeds;
  for (const std::string& each : parts(text, ',')) {
    const std::size_t colon = each.find(':');
    const std::uint64_t first = std::stoull(each);
    const std::uint64_t end =
        colon == std::string::npos ? first + 1 : std::stoull(each.substr(colon + 1));
    for (std::uint64_t seed = first; seed < end; ++seed) seeds.push_back(seed);
  }
  return seeds;
}

std::vector<std::uint64_t> read_options(int argc, char** argv) {
  std::vector<std::uint64_t> seeds;
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string name = argv[at], value = argv[at + 1];
    if (name == "--seeds") seeds = seeds_of(value);
    if (name == "--threads") options.threads = value == "1";
    if (name == "--lossy") options.lossy = value == "1";
    if (name == "--tolerance") options.tolerance = std::atof(value.c_str());
    if (name == "--seconds") options.seconds = std::atoi(value.c_str());
    if (name == "--without")
      for (const std::string& each : parts(value, ','))
        options.without.set(static_cast<std::size_t>(feature_of(each)));
    if (name == "--drop")
      for (const std::string& each : parts(value, ',')) {
        const std::vector<std::string> pair = parts(each, '.');
        options.dropped.insert({std::stoi(pair[0]), pair.size() > 1 ? std::stoi(pair[1]) : -1});
      }
  }
  return seeds;
}

void list_features() {
  for (std::size_t at = 0; at < kFeatures; ++at)
    std::printf("%s\n", name_of(static_cast<Feature>(at)));
}

int start(int* argc, char*** argv) {
  const int wanted = options.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(argc, argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (provided >= wanted) return 0;
  std::printf("this MPI has no threads\n");
  return 1;
}

}  // namespace
}  // namespace legality

int main(int argc, char** argv) {
  using namespace legality;
  if (argc == 2 && std::strcmp(argv[1], "--features") == 0) return list_features(), 0;
  const std::vector<std::uint64_t> seeds = read_options(argc, argv);
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) ::signal(signal, on_crash);
  ::signal(SIGALRM, on_alarm);
  if (!kHasPersistentCollectives)
    options.without.set(static_cast<std::size_t>(Feature::persistent_collective_));
  if (start(&argc, &argv) != 0) return 2;
  for (std::uint64_t seed : seeds) {
    alarm(static_cast<unsigned>(options.seconds));
    run_program(seed);
    alarm(0);
  }
  place.phase = -2;  // what goes wrong from here on does so at the end
  alarm(static_cast<unsigned>(options.seconds));
  MPI_Finalize();
  return 0;
}
