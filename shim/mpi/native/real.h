// The MPI underneath: its PMPI_ functions, found at the first call of any wrapper.
#pragma once

#include <atomic>

#include "shim/mpi/native/counted_call.h"
#include "shim/mpi/native/later_call.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/mpi_symbols.h"

// Every function of the MPI that the shim calls by name, but for those that it only refuses
// (entry/refuse.h).

// Calls that have a `_c` form if the MPI is of version 4.
// clang-format off
#define THINWIRE_COUNTED_CALLS(X)                                                        \
  X(Send) X(Ssend) X(Bsend) X(Rsend) X(Isend) X(Issend) X(Ibsend) X(Irsend) X(Recv)      \
  X(Irecv) X(Sendrecv) X(Sendrecv_replace) X(Mrecv) X(Imrecv) X(Send_init) X(Ssend_init) \
  X(Bsend_init) X(Rsend_init) X(Recv_init) X(Bcast) X(Reduce) X(Allreduce) X(Gather)     \
  X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv)  \
  X(Alltoallw) X(Reduce_scatter) X(Reduce_scatter_block) X(Scan) X(Exscan)

#define THINWIRE_LATER_COUNTED_CALLS(X) X(Isendrecv) X(Isendrecv_replace)

#define THINWIRE_PLAIN_CALLS(X)                                                          \
  X(Init) X(Init_thread) X(Finalize) X(Barrier) X(Probe) X(Iprobe) X(Mprobe) X(Improbe)  \
  X(Start) X(Startall) X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall)      \
  X(Testany) X(Testsome) X(Request_free) X(Request_get_status) X(Cancel) X(Comm_free)    \
  X(Comm_disconnect) X(Comm_rank) X(Comm_size) X(Comm_get_name) X(Comm_set_name) X(Comm_split) X(Comm_group)               \
  X(Comm_remote_group) X(Comm_test_inter) X(Comm_create_keyval) X(Comm_free_keyval)      \
  X(Comm_get_attr) X(Comm_set_attr) X(Comm_delete_attr) X(Comm_call_errhandler)          \
  X(Comm_set_errhandler) X(Comm_get_errhandler) X(Errhandler_free) X(Error_class)        \
  X(Group_free) X(Group_size) X(Group_rank) X(Group_translate_ranks) X(Type_size)        \
  X(Type_size_x) X(Type_get_extent_x) X(Type_get_true_extent_x) X(Type_get_envelope)     \
  X(Type_get_contents) X(Type_dup) X(Type_free) X(Type_commit) X(Type_contiguous)        \
  X(Type_create_struct) X(Type_create_hvector) X(Type_create_hindexed)                   \
  X(Type_create_resized) X(Type_create_keyval) X(Type_free_keyval) X(Type_get_attr)      \
  X(Type_set_attr) X(Type_delete_attr) X(Get_count) X(Get_elements) X(Get_elements_x)                        \
  X(Status_set_elements_x) X(Test_cancelled) X(Query_thread) X(Initialized) X(Finalized) \
  X(Comm_create_errhandler) X(Win_create_errhandler) X(File_create_errhandler)           \
  X(Win_call_errhandler) X(File_call_errhandler) X(Grequest_start) X(Grequest_complete)  \
  X(Status_set_cancelled) X(T_pvar_get_num) X(T_pvar_get_info)    \
  X(T_pvar_get_index) X(T_pvar_handle_alloc) X(T_pvar_handle_free) X(T_pvar_read)        \
  X(T_pvar_start) X(T_pvar_stop) X(T_pvar_write) X(T_pvar_reset) X(T_pvar_readreset)     \
  X(T_category_get_pvars) X(T_category_get_info)

// Calls of MPI 4 and later; an error if the MPI has none.
#define THINWIRE_LATER_CALLS(X)                                                          \
  X(Session_init) X(Session_finalize) X(Group_from_session_pset)                         \
  X(Comm_create_from_group) X(Get_count_c) X(Get_elements_c) X(Type_get_envelope_c)      \
  X(Type_get_contents_c) X(Request_get_status_any) X(Request_get_status_all)             \
  X(Request_get_status_some)
// clang-format on

namespace thinwire::mpi {

struct Real {
#define THINWIRE_COUNTED(name) CountedCall<decltype(&PMPI_##name)> name;
  THINWIRE_COUNTED_CALLS(THINWIRE_COUNTED)
  THINWIRE_LATER_COUNTED_CALLS(THINWIRE_COUNTED)
#undef THINWIRE_COUNTED
#define THINWIRE_PLAIN(name) decltype(&PMPI_##name) name = nullptr;
  THINWIRE_PLAIN_CALLS(THINWIRE_PLAIN)
#undef THINWIRE_PLAIN
#define THINWIRE_LATER(name) LaterCall<decltype(&PMPI_##name)> name;
  THINWIRE_LATER_CALLS(THINWIRE_LATER)
#undef THINWIRE_LATER
};

namespace detail {
extern Real table;
extern std::atomic<bool> resolved;
void resolve();
}  // namespace detail

// The table; ends the process with a message if the program's MPI is not one that this object is
// built for.
inline const Real& real() {
  if (!detail::resolved.load(std::memory_order_acquire)) [[unlikely]]
    detail::resolve();
  return detail::table;
}

// The MPI's own of a function that the program called and that is in no table; ends the process
// with a message if there is none.
void* native_call(const char* name);

// MPI returns classes or codes of its own.
inline bool is_of_class(int error, int wanted) {
  if (error == MPI_SUCCESS || error == wanted) return error == wanted;
  int found = MPI_SUCCESS;
  return real().Error_class(error, &found) == MPI_SUCCESS && found == wanted;
}

// Whether it says that ranks died, or that a communicator was revoked.
bool is_of_lost_ranks(int error);

}  // namespace thinwire::mpi

// Put after the definition of MPI_<name>: exports it as PMPI_<name> too, because the Fortran
// bindings of Open MPI call PMPI_ names and would otherwise pass the shim by.
#define THINWIRE_ALSO_PMPI(name) THINWIRE_ALSO_PMPI_EXPANDED(name)
#define THINWIRE_ALSO_PMPI_EXPANDED(name) \
  extern "C"                              \
      __attribute__((visibility("default"), alias("MPI_" #name))) decltype(MPI_##name) PMPI_##name

// A call and its `_c` form from one definition: `define(<entry>, <type of counts>, <call>, ...)`.
#define THINWIRE_BOTH_COUNTS(define, name, ...)       \
  define(name, int, name __VA_OPT__(, ) __VA_ARGS__); \
  define(name##_c, MPI_Count, name __VA_OPT__(, ) __VA_ARGS__)
