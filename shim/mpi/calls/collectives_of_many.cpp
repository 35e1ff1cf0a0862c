// Collectives with a block for each rank.
#include "calls/collectives.h"

using namespace thinwire::mpi;

extern "C" int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out,
                          int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Gather(in, in_count, in_type, out, out_count, out_type, root, comm);
  }
  const Role role = role_of(root, comm);
  Substitute sent(in, type_if(role.is_leaf, in_type), {{0, in_count}});
  Substitute received(out, type_if(role.is_root, out_type),
                      even_blocks(out_count, role.is_root ? peers_in(comm) : 0));
  return with_substitutes(comm, sent, received, in == MPI_IN_PLACE, [&] {
    return real().Gather(sent.address(), in_count, in_type, received.address(), out_count, out_type,
                         root, comm);
  });
}
THINWIRE_ALSO_PMPI(Gather);

extern "C" int MPI_Gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out,
                           const int out_counts[], const int places[], MPI_Datatype out_type,
                           int root, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Gatherv(in, in_count, in_type, out, out_counts, places, out_type, root, comm);
  }
  const Role role = role_of(root, comm);
  Substitute sent(in, type_if(role.is_leaf, in_type), {{0, in_count}});
  Substitute received(out, type_if(role.is_root, out_type),
                      listed_blocks(out_counts, places, role.is_root ? peers_in(comm) : 0));
  return with_substitutes(comm, sent, received, in == MPI_IN_PLACE, [&] {
    return real().Gatherv(sent.address(), in_count, in_type, received.address(), out_counts, places,
                          out_type, root, comm);
  });
}
THINWIRE_ALSO_PMPI(Gatherv);

extern "C" int MPI_Scatter(const void* in, int in_count, MPI_Datatype in_type, void* out,
                           int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Scatter(in, in_count, in_type, out, out_count, out_type, root, comm);
  }
  const Role role = role_of(root, comm);
  Substitute sent(in, type_if(role.is_root, in_type),
                  even_blocks(in_count, role.is_root ? peers_in(comm) : 0));
  Substitute received(out, type_if(role.is_leaf, out_type), {{0, out_count}});
  return with_substitutes(comm, sent, received, false, [&] {
    return real().Scatter(sent.address(), in_count, in_type, received.address(), out_count,
                          out_type, root, comm);
  });
}
THINWIRE_ALSO_PMPI(Scatter);

extern "C" int MPI_Scatterv(const void* in, const int in_counts[], const int places[],
                            MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                            int root, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Scatterv(in, in_counts, places, in_type, out, out_count, out_type, root, comm);
  }
  const Role role = role_of(root, comm);
  Substitute sent(in, type_if(role.is_root, in_type),
                  listed_blocks(in_counts, places, role.is_root ? peers_in(comm) : 0));
  Substitute received(out, type_if(role.is_leaf, out_type), {{0, out_count}});
  return with_substitutes(comm, sent, received, false, [&] {
    return real().Scatterv(sent.address(), in_counts, places, in_type, received.address(),
                           out_count, out_type, root, comm);
  });
}
THINWIRE_ALSO_PMPI(Scatterv);

extern "C" int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out,
                             int out_count, MPI_Datatype out_type, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Allgather(in, in_count, in_type, out, out_count, out_type, comm);
  }
  Substitute sent(in, in_type, {{0, in_count}});
  Substitute received(out, out_type, even_blocks(out_count, peers_in(comm)));
  return with_substitutes(comm, sent, received, in == MPI_IN_PLACE, [&] {
    return real().Allgather(sent.address(), in_count, in_type, received.address(), out_count,
                            out_type, comm);
  });
}
THINWIRE_ALSO_PMPI(Allgather);

extern "C" int MPI_Allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out,
                              const int out_counts[], const int places[], MPI_Datatype out_type,
                              MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Allgatherv(in, in_count, in_type, out, out_counts, places, out_type, comm);
  }
  Substitute sent(in, in_type, {{0, in_count}});
  Substitute received(out, out_type, listed_blocks(out_counts, places, peers_in(comm)));
  return with_substitutes(comm, sent, received, in == MPI_IN_PLACE, [&] {
    return real().Allgatherv(sent.address(), in_count, in_type, received.address(), out_counts,
                             places, out_type, comm);
  });
}
THINWIRE_ALSO_PMPI(Allgatherv);

extern "C" int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out,
                            int out_count, MPI_Datatype out_type, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Alltoall(in, in_count, in_type, out, out_count, out_type, comm);
  }
  const int peers = peers_in(comm);
  Substitute sent(in, in_type, even_blocks(in_count, peers));
  Substitute received(out, out_type, even_blocks(out_count, peers));
  return with_substitutes(comm, sent, received, in == MPI_IN_PLACE, [&] {
    return real().Alltoall(sent.address(), in_count, in_type, received.address(), out_count,
                           out_type, comm);
  });
}
THINWIRE_ALSO_PMPI(Alltoall);

extern "C" int MPI_Alltoallv(const void* in, const int in_counts[], const int in_places[],
                             MPI_Datatype in_type, void* out, const int out_counts[],
                             const int out_places[], MPI_Datatype out_type, MPI_Comm comm) {
  if (!any_out_of_reach({in, out})) {
    return real().Alltoallv(in, in_counts, in_places, in_type, out, out_counts, out_places,
                            out_type, comm);
  }
  const int peers = peers_in(comm);
  const bool in_place = in == MPI_IN_PLACE;
  Substitute sent(in, in_type, listed_blocks(in_counts, in_places, in_place ? 0 : peers));
  Substitute received(out, out_type, listed_blocks(out_counts, out_places, peers));
  return with_substitutes(comm, sent, received, in_place, [&] {
    return real().Alltoallv(sent.address(), in_counts, in_places, in_type, received.address(),
                            out_counts, out_places, out_type, comm);
  });
}
THINWIRE_ALSO_PMPI(Alltoallv);
