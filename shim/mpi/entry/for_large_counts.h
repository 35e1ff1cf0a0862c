// Included before a table of calls, which is compiled twice: here for MPI 4's `_c` calls.
// No include guard: each table needs it again.
#undef CALL
#undef COUNT
#undef PLACE
#undef BYTES
#define CALL(name) name##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define BYTES MPI_Count
