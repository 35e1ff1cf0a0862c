// One-sided and partitioned communication, which GPU memory cannot take part in if the MPI does
// not reach it.
#include "shim/mpi/collective/creations.h"
#include "shim/mpi/entry/refuse.h"

THINWIRE_REFUSE(Fetch_and_op,
                (const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                 MPI_Aint target_disp, MPI_Op op, MPI_Win win),
                (origin_addr, result_addr, datatype, target_rank, target_disp, op, win),
                raise_on_window(win), origin_addr, result_addr);
THINWIRE_REFUSE(Compare_and_swap,
                (const void* origin_addr, const void* compare_addr, void* result_addr,
                 MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win),
                (origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win),
                raise_on_window(win), origin_addr, compare_addr, result_addr);
THINWIRE_REFUSE(Win_attach, (MPI_Win win, void* base, MPI_Aint size), (win, base, size),
                raise_on_window(win), base);

// Partitioned communication never meets a frame, but it does take buffers.
#define THINWIRE_PARTITIONED(name, Data)                                                         \
  THINWIRE_REFUSE(name,                                                                          \
                  (Data * buf, int partitions, MPI_Count count, MPI_Datatype datatype, int peer, \
                   int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request),                 \
                  (buf, partitions, count, datatype, peer, tag, comm, info, request),            \
                  raise_on_comm(comm), buf)
THINWIRE_PARTITIONED(Psend_init, const void);
THINWIRE_PARTITIONED(Precv_init, void);

// The order matters.
// clang-format off
#include "shim/mpi/entry/for_int_counts.h"
#include "shim/mpi/entry/refused_windows.inc"
#include "shim/mpi/entry/for_large_counts.h"
#include "shim/mpi/entry/refused_windows.inc"
// clang-format on
