// The signatures of collectives in the mould of MPI's own, for tables that are compiled for int and
// for large counts: of each its parameters, what it passes on, and the sides of
// CollectiveArguments.
#pragma once

// Parameters that calls share, and what they pass on: blocks of one size, of sizes of
// their own at one side or both, of types of their own, and one block reduced.
#define EQUAL_PARAMETERS                                                                       \
  const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount, \
      MPI_Datatype recvtype
#define EQUAL_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define EQUAL_SIDES \
  {sendbuf, sendcount, sendtype}, { recvbuf, recvcount, recvtype }

#define ROOTED_PARAMETERS EQUAL_PARAMETERS, int root
#define ROOTED_ARGUMENTS EQUAL_ARGUMENTS, root
#define ROOTED_SIDES EQUAL_SIDES, root

#define GATHERED_PARAMETERS                                                   \
  const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, \
      const COUNT recvcounts[], const PLACE displs[], MPI_Datatype recvtype
#define GATHERED_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype
#define GATHERED_SIDES \
  {sendbuf, sendcount, sendtype}, { recvbuf, {recvcounts, displs}, recvtype }

#define VARIED_PARAMETERS                                                                      \
  const void *sendbuf, const COUNT sendcounts[], const PLACE sdispls[], MPI_Datatype sendtype, \
      void *recvbuf, const COUNT recvcounts[], const PLACE rdispls[], MPI_Datatype recvtype
#define VARIED_ARGUMENTS \
  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define VARIED_SIDES \
  {sendbuf, {sendcounts, sdispls}, sendtype}, { recvbuf, {recvcounts, rdispls}, recvtype }

#define TYPED_PARAMETERS(Displacement)                                         \
  const void *sendbuf, const COUNT sendcounts[], const Displacement sdispls[], \
      const MPI_Datatype sendtypes[], void *recvbuf, const COUNT recvcounts[], \
      const Displacement rdispls[], const MPI_Datatype recvtypes[]
#define UNITS_PARAMETERS TYPED_PARAMETERS(PLACE)
#define ADDRESSES_PARAMETERS TYPED_PARAMETERS(MPI_Aint)
#define TYPED_ARGUMENTS \
  sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes
#define UNITS_ARGUMENTS TYPED_ARGUMENTS
#define UNITS_SIDES \
  {sendbuf, {sendcounts, sdispls}, {}, sendtypes}, { recvbuf, {recvcounts, rdispls}, {}, recvtypes }
#define ADDRESSES_ARGUMENTS TYPED_ARGUMENTS

#define REDUCED_PARAMETERS \
  const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op
#define REDUCED_ARGUMENTS sendbuf, recvbuf, count, datatype, op
#define REDUCED_SIDES {sendbuf, count, datatype}, {recvbuf, count, datatype}, -1, op

#define ONE_ROOTED_PARAMETERS void *recvbuf, COUNT count, MPI_Datatype datatype, int root
#define ONE_ROOTED_ARGUMENTS recvbuf, count, datatype, root
#define ONE_ROOTED_SIDES {}, {recvbuf, count, datatype}, root

#define GATHERED_TO_PARAMETERS GATHERED_PARAMETERS, int root
#define GATHERED_TO_ARGUMENTS GATHERED_ARGUMENTS, root
#define GATHERED_TO_SIDES GATHERED_SIDES, root

#define SCATTERED_PARAMETERS                                                                  \
  const void *sendbuf, const COUNT sendcounts[], const PLACE displs[], MPI_Datatype sendtype, \
      void *recvbuf, COUNT recvcount, MPI_Datatype recvtype, int root
#define SCATTERED_ARGUMENTS \
  sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root
#define SCATTERED_SIDES \
  {sendbuf, {sendcounts, displs}, sendtype}, {recvbuf, recvcount, recvtype}, root

#define REDUCED_TO_PARAMETERS REDUCED_PARAMETERS, int root
#define REDUCED_TO_ARGUMENTS REDUCED_ARGUMENTS, root
#define REDUCED_TO_SIDES {sendbuf, count, datatype}, {recvbuf, count, datatype}, root, op

#define REDUCED_BLOCKS_PARAMETERS \
  const void *sendbuf, void *recvbuf, const COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op
#define REDUCED_BLOCKS_ARGUMENTS sendbuf, recvbuf, recvcounts, datatype, op
#define REDUCED_BLOCKS_SIDES \
  {sendbuf, listed(recvcounts), datatype}, {recvbuf, listed(recvcounts), datatype}, -1, op
