// Threads at work at the same time, each on a communicator of its own.
#include <thread>

#include "group.h"

namespace legality {
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
