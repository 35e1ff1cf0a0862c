// The MPI underneath: its PMPI_ functions, found at the first call of any wrapper.
#pragma once

#include <atomic>

#include "abi/mpi_abi.h"

// Every function of the MPI that the shim calls. None but those marked wrapped is replaced.
// clang-format off
#define THINWIRE_WRAPPED_CALLS(X)                                                        \
  X(Init) X(Init_thread) X(Finalize) X(Send) X(Ssend) X(Bsend) X(Rsend) X(Isend)         \
  X(Issend) X(Ibsend) X(Irsend) X(Recv) X(Irecv) X(Sendrecv) X(Sendrecv_replace)         \
  X(Mrecv) X(Imrecv) X(Probe) X(Iprobe) X(Mprobe) X(Improbe) X(Send_init)                \
  X(Ssend_init) X(Bsend_init) X(Rsend_init) X(Recv_init) X(Start) X(Startall) X(Wait) X(Waitall) X(Waitany)          \
  X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) X(Request_free)                  \
  X(Request_get_status) X(Cancel)                                                        \
  X(Bcast) X(Reduce) X(Allreduce) X(Gather) X(Gatherv) X(Scatter) X(Scatterv)            \
  X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv) X(Reduce_scatter)                  \
  X(Reduce_scatter_block) X(Scan) X(Exscan)
// clang-format on

// Wrapped too, for an error where GPU memory is handed to them; an MPI may lack some.
// clang-format off
#define THINWIRE_REFUSED_CALLS(X)                                                        \
  X(Alltoallw) X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall)         \
  X(Neighbor_alltoallv) X(Neighbor_alltoallw) X(Iallgather) X(Iallgatherv) X(Iallreduce) \
  X(Ialltoall) X(Ialltoallv) X(Ialltoallw) X(Ibcast) X(Iexscan) X(Igather) X(Igatherv)   \
  X(Ineighbor_allgather) X(Ineighbor_allgatherv) X(Ineighbor_alltoall)                   \
  X(Ineighbor_alltoallv) X(Ineighbor_alltoallw) X(Ireduce) X(Ireduce_scatter)            \
  X(Ireduce_scatter_block) X(Iscan) X(Iscatter) X(Iscatterv) X(Put) X(Get) X(Accumulate) \
  X(Get_accumulate) X(Fetch_and_op) X(Compare_and_swap) X(Rput) X(Rget) X(Raccumulate)   \
  X(Rget_accumulate) X(Win_create) X(Win_attach) X(File_read_at) X(File_read_at_all)     \
  X(File_write_at) X(File_write_at_all) X(File_iread_at) X(File_iwrite_at)               \
  X(File_iread_at_all) X(File_iwrite_at_all) X(File_read) X(File_read_all) X(File_write) \
  X(File_write_all) X(File_iread) X(File_iwrite) X(File_iread_all) X(File_iwrite_all)    \
  X(File_read_shared) X(File_write_shared) X(File_iread_shared) X(File_iwrite_shared)    \
  X(File_read_ordered) X(File_write_ordered) X(File_read_at_all_begin)                   \
  X(File_write_at_all_begin) X(File_read_all_begin) X(File_write_all_begin)              \
  X(File_read_ordered_begin) X(File_write_ordered_begin) X(Pack) X(Unpack)               \
  X(Pack_external) X(Unpack_external) X(Reduce_local)
// clang-format on

// clang-format off
#define THINWIRE_HELPER_CALLS(X)                                                         \
  X(Comm_rank) X(Comm_size) X(Comm_split) X(Comm_free) X(Comm_group)                     \
  X(Comm_remote_group) X(Comm_test_inter) X(Comm_create_keyval) X(Comm_free_keyval)      \
  X(Comm_get_attr) X(Comm_set_attr) X(Comm_call_errhandler) X(Comm_set_errhandler)       \
  X(Group_free) X(Group_size) X(Group_translate_ranks) X(Type_size)                      \
  X(Type_size_x) X(Type_get_extent_x) X(Type_get_true_extent_x) X(Type_get_envelope)     \
  X(Type_get_contents) X(Type_dup) X(Type_free) X(Type_commit) X(Type_contiguous)        \
  X(Type_create_struct) X(Type_create_keyval) X(Type_free_keyval) X(Type_get_attr)       \
  X(Type_set_attr) X(Get_elements_x) X(Status_set_elements_x) X(Test_cancelled)          \
  X(Query_thread) X(Win_call_errhandler) X(File_call_errhandler)
// clang-format on

namespace thinwire::mpi {

struct Real {
#define THINWIRE_REAL(name) decltype(&PMPI_##name) name = nullptr;
  THINWIRE_WRAPPED_CALLS(THINWIRE_REAL)
  THINWIRE_REFUSED_CALLS(THINWIRE_REAL)
  THINWIRE_HELPER_CALLS(THINWIRE_REAL)
#undef THINWIRE_REAL
};

namespace detail {
extern Real table;
extern std::atomic<bool> resolved;
void resolve();
}  // namespace detail

// The table; ends the process with a message where the MPI lacks one of these functions.
inline const Real& real() {
  if (!detail::resolved.load(std::memory_order_acquire)) [[unlikely]]
    detail::resolve();
  return detail::table;
}

// An address inside the loaded MPI or what it links, or nullptr.
void* find_symbol(const char* name);

}  // namespace thinwire::mpi

// Put behind the definition of MPI_<name>: exports it as PMPI_<name> too, because the Fortran
// bindings of Open MPI call PMPI_ names and would otherwise pass the shim by.
#define THINWIRE_ALSO_PMPI(name) \
  extern "C"                     \
      __attribute__((visibility("default"), alias("MPI_" #name))) decltype(MPI_##name) PMPI_##name
