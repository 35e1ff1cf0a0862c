// Collectives that GPU memory cannot take part in where the MPI does not reach it.
#include "calls/refuse.h"

// What calls share of their parameters, and of what they pass on: blocks of one size, of sizes of
// their own at one side or both, of types of their own, and one block reduced.
#define EQUAL_PARAMETERS                                                                   \
  const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, \
      MPI_Datatype recvtype
#define EQUAL_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype

#define ROOTED_PARAMETERS EQUAL_PARAMETERS, int root
#define ROOTED_ARGUMENTS EQUAL_ARGUMENTS, root

#define GATHERED_PARAMETERS                                                 \
  const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, \
      const int recvcounts[], const int displs[], MPI_Datatype recvtype
#define GATHERED_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype

#define VARIED_PARAMETERS                                                                  \
  const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, \
      void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype
#define VARIED_ARGUMENTS \
  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype

#define TYPED_PARAMETERS(Displacement)                                       \
  const void *sendbuf, const int sendcounts[], const Displacement sdispls[], \
      const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], \
      const Displacement rdispls[], const MPI_Datatype recvtypes[]
#define BYTES_PARAMETERS TYPED_PARAMETERS(int)
#define ADDRESSES_PARAMETERS TYPED_PARAMETERS(MPI_Aint)
#define TYPED_ARGUMENTS \
  sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes
#define BYTES_ARGUMENTS TYPED_ARGUMENTS
#define ADDRESSES_ARGUMENTS TYPED_ARGUMENTS

#define REDUCED_PARAMETERS \
  const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op
#define REDUCED_ARGUMENTS sendbuf, recvbuf, count, datatype, op

#define REFUSE_BLOCKING(name, signature)                                                        \
  THINWIRE_REFUSE(name, (signature##_PARAMETERS, MPI_Comm comm), (signature##_ARGUMENTS, comm), \
                  raise_on_comm(comm), sendbuf, recvbuf)
#define REFUSE_NONBLOCKING(name, signature)                                             \
  THINWIRE_REFUSE(name, (signature##_PARAMETERS, MPI_Comm comm, MPI_Request * request), \
                  (signature##_ARGUMENTS, comm, request), raise_on_comm(comm), sendbuf, recvbuf)

REFUSE_BLOCKING(Alltoallw, BYTES);
REFUSE_BLOCKING(Neighbor_allgather, EQUAL);
REFUSE_BLOCKING(Neighbor_allgatherv, GATHERED);
REFUSE_BLOCKING(Neighbor_alltoall, EQUAL);
REFUSE_BLOCKING(Neighbor_alltoallv, VARIED);
REFUSE_BLOCKING(Neighbor_alltoallw, ADDRESSES);

REFUSE_NONBLOCKING(Iallgather, EQUAL);
REFUSE_NONBLOCKING(Iallgatherv, GATHERED);
REFUSE_NONBLOCKING(Iallreduce, REDUCED);
REFUSE_NONBLOCKING(Ialltoall, EQUAL);
REFUSE_NONBLOCKING(Ialltoallv, VARIED);
REFUSE_NONBLOCKING(Ialltoallw, BYTES);
REFUSE_NONBLOCKING(Iexscan, REDUCED);
REFUSE_NONBLOCKING(Igather, ROOTED);
REFUSE_NONBLOCKING(Ineighbor_allgather, EQUAL);
REFUSE_NONBLOCKING(Ineighbor_allgatherv, GATHERED);
REFUSE_NONBLOCKING(Ineighbor_alltoall, EQUAL);
REFUSE_NONBLOCKING(Ineighbor_alltoallv, VARIED);
REFUSE_NONBLOCKING(Ineighbor_alltoallw, ADDRESSES);
REFUSE_NONBLOCKING(Iscan, REDUCED);
REFUSE_NONBLOCKING(Iscatter, ROOTED);

// Signatures that stand alone.
THINWIRE_REFUSE(Ibcast,
                (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                 MPI_Request* request),
                (buffer, count, datatype, root, comm, request), raise_on_comm(comm), buffer);
THINWIRE_REFUSE(Igatherv,
                (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm, MPI_Request* request),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
                 request),
                raise_on_comm(comm), sendbuf, recvbuf);
THINWIRE_REFUSE(Iscatterv,
                (const void* sendbuf, const int sendcounts[], const int displs[],
                 MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm, MPI_Request* request),
                (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
                 request),
                raise_on_comm(comm), sendbuf, recvbuf);
THINWIRE_REFUSE(Ireduce,
                (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm, MPI_Request* request),
                (sendbuf, recvbuf, count, datatype, op, root, comm, request), raise_on_comm(comm),
                sendbuf, recvbuf);
THINWIRE_REFUSE(Ireduce_scatter,
                (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request* request),
                (sendbuf, recvbuf, recvcounts, datatype, op, comm, request), raise_on_comm(comm),
                sendbuf, recvbuf);
THINWIRE_REFUSE(Ireduce_scatter_block,
                (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request* request),
                (sendbuf, recvbuf, recvcount, datatype, op, comm, request), raise_on_comm(comm),
                sendbuf, recvbuf);
THINWIRE_REFUSE(Pack,
                (const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize,
                 int* position, MPI_Comm comm),
                (inbuf, incount, datatype, outbuf, outsize, position, comm), raise_on_comm(comm),
                inbuf, outbuf);
THINWIRE_REFUSE(Unpack,
                (const void* inbuf, int insize, int* position, void* outbuf, int outcount,
                 MPI_Datatype datatype, MPI_Comm comm),
                (inbuf, insize, position, outbuf, outcount, datatype, comm), raise_on_comm(comm),
                inbuf, outbuf);
THINWIRE_REFUSE(Pack_external,
                (const char datarep[], const void* inbuf, int incount, MPI_Datatype datatype,
                 void* outbuf, MPI_Aint outsize, MPI_Aint* position),
                (datarep, inbuf, incount, datatype, outbuf, outsize, position),
                raise_on_comm(MPI_COMM_WORLD), inbuf, outbuf);
THINWIRE_REFUSE(Unpack_external,
                (const char datarep[], const void* inbuf, MPI_Aint insize, MPI_Aint* position,
                 void* outbuf, int outcount, MPI_Datatype datatype),
                (datarep, inbuf, insize, position, outbuf, outcount, datatype),
                raise_on_comm(MPI_COMM_WORLD), inbuf, outbuf);
THINWIRE_REFUSE(Reduce_local,
                (const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype, MPI_Op op),
                (inbuf, inoutbuf, count, datatype, op), raise_on_comm(MPI_COMM_WORLD), inbuf,
                inoutbuf);
