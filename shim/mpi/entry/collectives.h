// Blocking collectives. Some are compressed as a whole
// (collective/compress_whole.h). Of the others, with buffers in GPU memory that the MPI cannot
// reach: the MPI's own algorithm runs on host memory that stands in for them. What the ranks do
// stays the same, so each decides for its own buffers.
#pragma once

#include <vector>

#include "shim/mpi/collective/compress_whole.h"
#include "shim/mpi/collective/ordered.h"
#include "shim/mpi/entry/refuse.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/stand_in_buffer.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {

// The buffers that count in a rooted collective, also between two groups.
struct Role {
  bool is_root = false;
  bool is_leaf = false;  // takes part as everybody does; so does the root inside one group
};

inline Role role_of(int root, MPI_Comm comm) {
  int inter = 0, rank = 0;
  real().Comm_test_inter(comm, &inter);
  if (inter) return {root == MPI_ROOT, root >= 0};
  real().Comm_rank(comm, &rank);
  return {root == rank, true};
}

// A reduction in the order of the ranks if that is wanted, else `native`.
template <typename Native>
int in_order_or(Sum sum, const CollectiveArguments& arguments, Native&& native) {
  if (const auto done = add_in_order_if_wanted(sum, arguments)) return *done;
  return native();
}

// How many ranks a rank exchanges blocks with.
inline int peers_in(MPI_Comm comm) {
  int inter = 0, size = 0;
  real().Comm_test_inter(comm, &inter);
  if (!inter) {
    real().Comm_size(comm, &size);
    return size;
  }
  MPI_Group group{};
  real().Comm_remote_group(comm, &group);
  real().Group_size(group, &size);
  real().Group_free(&group);
  return size;
}

inline std::vector<Block> even_blocks(std::int64_t count, int blocks) {
  std::vector<Block> all;
  for (int at = 0; at < blocks; ++at) all.push_back({at * count, count});
  return all;
}

template <typename Count, typename Place>
std::vector<Block> listed_blocks(const Count counts[], const Place places[], int blocks) {
  std::vector<Block> all;
  for (int at = 0; at < blocks; ++at) all.push_back({places[at], counts[at]});
  return all;
}

template <typename Count, typename Place>
std::vector<TypedBlock> typed_blocks(const Count counts[], const Place offsets[],
                                     const MPI_Datatype types[], int blocks) {
  std::vector<TypedBlock> all;
  for (int at = 0; at < blocks; ++at) all.push_back({offsets[at], counts[at], types[at]});
  return all;
}

// The type of an argument that counts on some ranks only; elsewhere its values mean nothing.
inline MPI_Datatype type_if(bool counts, MPI_Datatype type) {
  return counts ? type : MPI_DATATYPE_NULL;
}

// Runs `native`, which uses the addresses of both. `read` says that the call reads `received` too.
template <typename Native>
int with_stand_ins(MPI_Comm comm, StandInBuffer& sent, StandInBuffer& received, bool read,
                   Native&& native) {
  int error = sent.prepare(true, received.address());
  if (error == MPI_SUCCESS) error = received.prepare(read, sent.address());
  if (error != MPI_SUCCESS) return raise(comm, error);
  error = native();
  if (error != MPI_SUCCESS) return error;
  error = received.write_back();
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(comm, error);
}

}  // namespace thinwire::mpi

// Leaves the call if it is compressed as a whole, with the fields of CollectiveArguments. Else
// the MPI's own, which follows, is timed up to the end if that is wanted.
#define THINWIRE_COMPRESS_WHOLE(...) \
  CallClock clock;                   \
  if (const auto done = compress_whole_if_wanted({__VA_ARGS__}, clock)) return *done

// Begins the definition of a call whose table is compiled for int and for large counts.
#define THINWIRE_DEFINE(...) THINWIRE_DEFINE_EXPANDED(__VA_ARGS__)
#define THINWIRE_DEFINE_EXPANDED(name, ...) extern "C" int MPI_##name(__VA_ARGS__)
