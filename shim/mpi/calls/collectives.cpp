// Broadcast and the reductions.
#include "calls/collectives.h"

using namespace thinwire::mpi;

extern "C" int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (!any_out_of_reach({buffer})) return real().Bcast(buffer, count, type, root, comm);
  const Role role = role_of(root, comm);
  Substitute both(buffer, type, {{0, count}});
  int error = both.prepare(role.is_root);
  if (error != MPI_SUCCESS) return raise(comm, error);
  error = real().Bcast(both.address(), count, type, root, comm);
  if (error != MPI_SUCCESS || role.is_root || !role.is_leaf) return error;
  error = both.write_back();
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(comm, error);
}
THINWIRE_ALSO_PMPI(Bcast);

extern "C" int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                          int root, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) return real().Reduce(in, out, count, type, op, root, comm);
  const Role role = role_of(root, comm);
  Substitute sent(in, type_if(role.is_leaf, type), {{0, count}});
  Substitute received(out, type_if(role.is_root, type), {{0, count}});
  return with_substitutes(comm, sent, received, in == MPI_IN_PLACE, [&] {
    return real().Reduce(sent.address(), received.address(), count, type, op, root, comm);
  });
}
THINWIRE_ALSO_PMPI(Reduce);

extern "C" int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) return real().Allreduce(in, out, count, type, op, comm);
  Substitute sent(in, type, {{0, count}}), received(out, type, {{0, count}});
  return with_substitutes(comm, sent, received, in == MPI_IN_PLACE, [&] {
    return real().Allreduce(sent.address(), received.address(), count, type, op, comm);
  });
}
THINWIRE_ALSO_PMPI(Allreduce);

extern "C" int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) return real().Scan(in, out, count, type, op, comm);
  Substitute sent(in, type, {{0, count}}), received(out, type, {{0, count}});
  return with_substitutes(comm, sent, received, in == MPI_IN_PLACE, [&] {
    return real().Scan(sent.address(), received.address(), count, type, op, comm);
  });
}
THINWIRE_ALSO_PMPI(Scan);

extern "C" int MPI_Exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) return real().Exscan(in, out, count, type, op, comm);
  Substitute sent(in, type, {{0, count}}), received(out, type, {{0, count}});
  // Rank 0 receives nothing, and what it has is to stay.
  return with_substitutes(comm, sent, received, true, [&] {
    return real().Exscan(sent.address(), received.address(), count, type, op, comm);
  });
}
THINWIRE_ALSO_PMPI(Exscan);

extern "C" int MPI_Reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Reduce_scatter(in, out, counts, type, op, comm);
  }
  int size = 0, rank = 0;
  real().Comm_size(comm, &size);
  real().Comm_rank(comm, &rank);
  std::vector<Block> all;
  std::int64_t place = 0;
  for (int at = 0; at < size; place += counts[at++]) all.push_back({place, counts[at]});
  const bool in_place = in == MPI_IN_PLACE;
  Substitute sent(in, type, all);
  Substitute received(out, type, in_place ? all : std::vector<Block>{{0, counts[rank]}});
  return with_substitutes(comm, sent, received, in_place, [&] {
    return real().Reduce_scatter(sent.address(), received.address(), counts, type, op, comm);
  });
}
THINWIRE_ALSO_PMPI(Reduce_scatter);

extern "C" int MPI_Reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type,
                                        MPI_Op op, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Reduce_scatter_block(in, out, count, type, op, comm);
  }
  int size = 0;
  real().Comm_size(comm, &size);
  const bool in_place = in == MPI_IN_PLACE;
  Substitute sent(in, type, even_blocks(count, size));
  Substitute received(out, type, even_blocks(count, in_place ? size : 1));
  return with_substitutes(comm, sent, received, in_place, [&] {
    return real().Reduce_scatter_block(sent.address(), received.address(), count, type, op, comm);
  });
}
THINWIRE_ALSO_PMPI(Reduce_scatter_block);
