// Collectives of all kinds one after the other, blocking, started and persistent, and their calls.
#include <algorithm>
#include <cstring>

#include "collective.h"
#include "completion.h"

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

// The calls of MPI for collectives of all flavours.
#if (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5) || \
    (!defined(OMPI_MAJOR_VERSION) && MPI_VERSION >= 4)
#define PERSISTENT(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define PERSISTENT(Name, ...) MPI_ERR_UNSUPPORTED_OPERATION
#endif
#define CALL(Name, Iname, ...)                                              \
  (drawn.flavour == Flavour::kBlocking  ? MPI_##Name(__VA_ARGS__)           \
   : drawn.flavour == Flavour::kStarted ? MPI_##Iname(__VA_ARGS__, request) \
                                        : PERSISTENT(Name, __VA_ARGS__))

namespace {

int reduce(const Drawn& drawn, Arguments& with, MPI_Comm comm, MPI_Request* request) {
  const Blocks &s = with.sends, &r = with.receives;
  using enum CollectiveKind;
  switch (drawn.kind) {
    case kReduce:
      return CALL(Reduce, Ireduce, with.from, r.address(), s.count(), s.type(), with.op, with.root,
                  comm);
    case kAllreduce:
      return CALL(Allreduce, Iallreduce, with.from, r.address(), s.count(), s.type(), with.op,
                  comm);
    case kReduceScatter:
      return CALL(Reduce_scatter, Ireduce_scatter, with.from, r.address(), s.counts.data(),
                  s.type(), with.op, comm);
    case kReduceScatterBlock:
      return CALL(Reduce_scatter_block, Ireduce_scatter_block, with.from, r.address(), s.count(),
                  s.type(), with.op, comm);
    case kScan:
      return CALL(Scan, Iscan, with.from, r.address(), s.count(), s.type(), with.op, comm);
    default:
      return CALL(Exscan, Iexscan, with.from, r.address(), s.count(), s.type(), with.op, comm);
  }
}

int move_many(const Drawn& drawn, Arguments& with, MPI_Comm comm, MPI_Request* request) {
  const Blocks &s = with.sends, &r = with.receives;
  using enum CollectiveKind;
  switch (drawn.kind) {
    case kGatherv:
      return CALL(Gatherv, Igatherv, with.from, s.count(), s.type(), r.address(), r.counts.data(),
                  r.places.data(), r.type(), with.root, comm);
    case kScatterv:
      return CALL(Scatterv, Iscatterv, s.address(), s.counts.data(), s.places.data(), s.type(),
                  with.to(), r.count(), r.type(), with.root, comm);
    case kAllgatherv:
      return CALL(Allgatherv, Iallgatherv, with.from, s.count(), s.type(), r.address(),
                  r.counts.data(), r.places.data(), r.type(), comm);
    case kAlltoallv:
      return CALL(Alltoallv, Ialltoallv, with.from, s.counts.data(), s.places.data(), s.type(),
                  r.address(), r.counts.data(), r.places.data(), r.type(), comm);
    default:
      return CALL(Alltoallw, Ialltoallw, with.from, s.counts.data(), s.places.data(),
                  s.types.data(), r.address(), r.counts.data(), r.places.data(), r.types.data(),
                  comm);
  }
}

}  // namespace

int call_collective(const Drawn& drawn, Arguments& with, MPI_Comm comm, MPI_Request* request) {
  const Blocks &s = with.sends, &r = with.receives;
  using enum CollectiveKind;
  if (drawn.reduces()) return reduce(drawn, with, comm, request);
  switch (drawn.kind) {
    case kBarrier: {
      if (drawn.flavour == Flavour::kBlocking) return MPI_Barrier(comm);
      if (drawn.flavour == Flavour::kStarted) return MPI_Ibarrier(comm, request);
      return PERSISTENT(Barrier, comm);
    }
    case kBcast:
      return CALL(Bcast, Ibcast, r.address(), r.count(), r.type(), with.root, comm);
    case kGather:
      return CALL(Gather, Igather, with.from, s.count(), s.type(), r.address(), r.count(), r.type(),
                  with.root, comm);
    case kScatter:
      return CALL(Scatter, Iscatter, s.address(), s.count(), s.type(), with.to(), r.count(),
                  r.type(), with.root, comm);
    case kAllgather:
      return CALL(Allgather, Iallgather, with.from, s.count(), s.type(), r.address(), r.count(),
                  r.type(), comm);
    case kAlltoall:
      return CALL(Alltoall, Ialltoall, with.from, s.count(), s.type(), r.address(), r.count(),
                  r.type(), comm);
    default:
      return move_many(drawn, with, comm, request);
  }
}

}  // namespace legality
