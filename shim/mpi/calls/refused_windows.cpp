// One-sided communication, which GPU memory cannot take part in where the MPI does not reach it.
#include "calls/refuse.h"

THINWIRE_REFUSE(Put,
                (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                 int target_rank, MPI_Aint target_disp, int target_count,
                 MPI_Datatype target_datatype, MPI_Win win),
                (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                 target_datatype, win),
                raise_on_window(win), origin_addr);
THINWIRE_REFUSE(Get,
                (void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                 MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win),
                (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                 target_datatype, win),
                raise_on_window(win), origin_addr);
THINWIRE_REFUSE(Accumulate,
                (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                 int target_rank, MPI_Aint target_disp, int target_count,
                 MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
                (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                 target_datatype, op, win),
                raise_on_window(win), origin_addr);
THINWIRE_REFUSE(Get_accumulate,
                (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                 void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
                 MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                 MPI_Win win),
                (origin_addr, origin_count, origin_datatype, result_addr, result_count,
                 result_datatype, target_rank, target_disp, target_count, target_datatype, op, win),
                raise_on_window(win), origin_addr, result_addr);
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
THINWIRE_REFUSE(Rput,
                (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                 int target_rank, MPI_Aint target_disp, int target_cout,
                 MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request),
                (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_cout,
                 target_datatype, win, request),
                raise_on_window(win), origin_addr);
THINWIRE_REFUSE(Rget,
                (void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                 MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
                 MPI_Request* request),
                (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                 target_datatype, win, request),
                raise_on_window(win), origin_addr);
THINWIRE_REFUSE(Raccumulate,
                (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                 int target_rank, MPI_Aint target_disp, int target_count,
                 MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request),
                (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                 target_datatype, op, win, request),
                raise_on_window(win), origin_addr);
THINWIRE_REFUSE(Rget_accumulate,
                (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                 void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
                 MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                 MPI_Win win, MPI_Request* request),
                (origin_addr, origin_count, origin_datatype, result_addr, result_count,
                 result_datatype, target_rank, target_disp, target_count, target_datatype, op, win,
                 request),
                raise_on_window(win), origin_addr, result_addr);
THINWIRE_REFUSE(Win_create,
                (void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                 MPI_Win* win),
                (base, size, disp_unit, info, comm, win), raise_on_comm(comm), base);
THINWIRE_REFUSE(Win_attach, (MPI_Win win, void* base, MPI_Aint size), (win, base, size),
                raise_on_window(win), base);
