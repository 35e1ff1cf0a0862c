// The calls of MPI for collectives of all flavours.
#include <algorithm>
#include <cstring>

#include "collective.h"

namespace legality {

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
