#include "program.h"

#include <cstdio>
#include <sstream>
#include <string>
#include <thread>

namespace legality {
namespace {

constexpr int kBufferBytes = 32 << 20;

using Phase = Record (*)(const Group&, Random);

Phase draw_phase(Random& random) {
  static const std::vector<Phase> phases{
      run_exchange, run_exchange,    run_exchange,         run_exchange,    run_ring,
      run_cancel,   run_synchronous, run_collectives,      run_collectives, run_collectives,
      run_threads,  run_errors,      run_intercommunicator};
  return random.pick(phases);
}

// After the others, so that what these draw does not depend on it.
std::vector<Phase> draw_last_phases(Random random) {
  std::vector<Phase> phases;
  if (random.chance(30)) phases.push_back(run_looked_up);
  if (random.chance(30)) phases.push_back(run_short_lived);
  if (random.chance(12)) phases.push_back(run_many);
  return phases;
}

// Hashes of all ranks' results, over ranks and phases.
struct Sums {
  std::uint64_t all = 0, kept = 0;
  int bad = 0;
  std::bitset<kFeatures> features, left_out;
  std::vector<std::uint64_t> phases;
};

Sums sum_up(MPI_Comm control, const std::vector<Record>& records) {
  constexpr int kWords = (static_cast<int>(kFeatures) + 63) / 64;
  const Marks marks = take_marks();
  std::vector<std::uint64_t> own;
  for (const Record& record : records) own.push_back(record.all), own.push_back(record.kept);
  own.push_back(static_cast<std::uint64_t>(complaints()));
  for (const std::bitset<kFeatures>& bits : {marks.had, marks.left_out})
    for (int word = 0; word < kWords; ++word)
      own.push_back(((bits >> static_cast<std::size_t>(64 * word)) & std::bitset<kFeatures>(~0ull))
                        .to_ullong());
  const int count = static_cast<int>(own.size());
  std::vector<std::uint64_t> every(own.size() * static_cast<std::size_t>(world_size));
  MUST(MPI_Gather(own.data(), count, MPI_UINT64_T, every.data(), count, MPI_UINT64_T, 0, control));
  Sums sums;
  sums.phases.resize(records.size());
  for (int rank = 0; rank < world_size; ++rank) {
    const std::uint64_t* row = &every[own.size() * static_cast<std::size_t>(rank)];
    for (std::size_t phase = 0; phase < records.size(); ++phase) {
      sums.phases[phase] = join(sums.phases[phase], row[2 * phase]);
      sums.all = join(sums.all, row[2 * phase]), sums.kept = join(sums.kept, row[2 * phase + 1]);
    }
    row += 2 * records.size();
    sums.bad += static_cast<int>(*row++);
    for (std::bitset<kFeatures>* bits : {&sums.features, &sums.left_out})
      for (int word = 0; word < kWords; ++word)
        *bits |= std::bitset<kFeatures>(*row++) << static_cast<std::size_t>(64 * word);
  }
  return sums;
}

void print(std::uint64_t seed, const Sums& sums) {
  std::ostringstream phases;
  for (std::uint64_t each : sums.phases)
    phases << (phases.tellp() > 0 ? "," : "") << std::hex << (each >> 32);
  std::printf("seed %llu all %016llx kept %016llx bad %d features %s left %s phases %s\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(sums.all),
              static_cast<unsigned long long>(sums.kept), sums.bad,
              sums.features.to_string().c_str(), sums.left_out.to_string().c_str(),
              phases.str().c_str());
  std::fflush(stdout);
}

}  // namespace

void run_program(std::uint64_t seed) {
  static std::vector<char> attached(kBufferBytes);
  place.seed = seed;
  place.phase = -1;
  Random random(seed);
  MUST(MPI_Buffer_attach(attached.data(), kBufferBytes));
  std::vector<Record> records;
  {
    Communicators communicators(random.part(1));
    const int drawn = random.between(4, 8);
    const std::vector<Phase> last = draw_last_phases(random.part(50));
    const int phases = drawn + static_cast<int>(last.size());
    for (int phase = 0; phase < phases; ++phase) {
      place.phase = phase;
      Random own = random.part(100 + static_cast<std::uint64_t>(phase));
      const auto [group, color] = communicators.pick(own, phase);
      const Phase run =
          phase < drawn ? draw_phase(own) : last[static_cast<std::size_t>(phase - drawn)];
      const bool idle = group.comm == MPI_COMM_NULL || dropped(phase);
      records.push_back(idle ? Record{} : run(group, own.part(static_cast<std::uint64_t>(color))));
    }
    place.phase = phases;
  }
  if (random.part(51).chance(15)) leave_for_the_end(seed);
  void* address = nullptr;
  int bytes = 0;
  MUST(MPI_Buffer_detach(&address, &bytes));
  const Sums sums = sum_up(MPI_COMM_WORLD, records);
  if (world_rank == 0) print(seed, sums);
}

// Threads at work at the same time, each on a communicator of its own.
namespace {

Record work(const Group& group, Random random) {
  using Phase = Record (*)(const Group&, Random);
  static const std::vector<Phase> phases{run_exchange, run_exchange, run_ring, run_collectives};
  Record record;
  const int count = random.between(1, 3);
  for (int at = 0; at < count; ++at) {
    Group own = group;
    own.phase = group.phase + at;
    if (dropped(own.phase)) continue;
    record.add(random.pick(phases)(own, random.part(static_cast<std::uint64_t>(at))));
  }
  return record;
}

}  // namespace

Record run_threads(const Group& group, Random random) {
  Record record;
  if (!options.threads) return run_exchange(group, random);
  const std::size_t count = static_cast<std::size_t>(random.between(2, 3));
  std::vector<Group> groups(count, group);
  for (Group& own : groups) MUST(MPI_Comm_dup(group.comm, &own.comm));
  std::vector<Record> records(count);
  std::vector<std::thread> threads;
  for (std::size_t at = 0; at < count; ++at) {
    groups[at].phase = 20 + (group.phase * 4 + static_cast<int>(at)) * 4;  // no other phase's
    threads.emplace_back([&, at] { records[at] = work(groups[at], random.part(at)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Record& each : records) record.add(each);
  for (Group& own : groups) MUST(MPI_Comm_free(&own.comm));
  mark(Feature::threads_);
  return record;
}

}  // namespace legality
