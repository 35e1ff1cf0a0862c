// Collectives of all kinds one after the other: blocking, started, persistent.
#include "completion.h"
#include "operation.h"

namespace legality {
namespace {

using Operations = std::vector<std::unique_ptr<Operation>>;

void complete_started(const Operations& operations, bool persistent, Random& own) {
  std::vector<Operation*> open;
  for (const auto& each : operations)
    if (each->drawn().flavour == (persistent ? Flavour::kPersistent : Flavour::kStarted))
      open.push_back(each.get());
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;
  for (Operation* each : open) requests.push_back(each->request());
  complete(own, requests, statuses, false,
           persistent ? Among::kPersistentCollectives : Among::kPlain);
  for (std::size_t at = 0; at < open.size(); ++at) open[at]->request() = requests[at];
}

// In an order of this rank's own.
void start_persistent(const Operations& operations, Random& own) {
  for (int at : own.permutation(static_cast<int>(operations.size()))) {
    Operation& one = *operations[static_cast<std::size_t>(at)];
    if (one.drawn().flavour == Flavour::kPersistent) MUST(MPI_Start(&one.request()));
  }
}

Operations draw_all(const Group& group, Random& random, Random& own) {
  Operations operations;
  const int count = random.between(1, 4);
  for (int at = 0; at < count; ++at) {
    const Drawn drawn = draw_collective(group, random.part(static_cast<std::uint64_t>(at)));
    if (dropped(group.phase, at)) continue;
    operations.push_back(
        std::make_unique<Operation>(group, drawn, own.part(100 + static_cast<std::uint64_t>(at))));
  }
  return operations;
}

}  // namespace

Record run_collectives(const Group& group, Random random) {
  Record record;
  Random own = random.part(1000 + static_cast<std::uint64_t>(group.rank));
  const Operations operations = draw_all(group, random, own);
  for (const auto& each : operations) each->renew(0), each->call();
  start_persistent(operations, own);
  if (random.chance(35)) {
    record.add(run_ring(group, random.part(500)));
    mark(Feature::messages_meanwhile_);
  }
  const bool persistent_first = own.chance(50);
  complete_started(operations, persistent_first, own);
  complete_started(operations, !persistent_first, own);
  for (const auto& each : operations) each->check(record);
  const int rounds = random.between(1, 3);
  for (int round = 1; round < rounds; ++round) {
    for (const auto& each : operations)
      if (each->drawn().flavour == Flavour::kPersistent) each->renew(round);
    start_persistent(operations, own);
    complete_started(operations, true, own);
    for (const auto& each : operations)
      if (each->drawn().flavour == Flavour::kPersistent) each->check(record);
  }
  return record;
}

}  // namespace legality
