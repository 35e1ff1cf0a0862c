// Included before a table of calls, which is compiled twice: here for MPI's calls with int counts.
// No include guard: each table needs it again.
#undef CALL
#undef COUNT
#undef PLACE
#undef BYTES
#define CALL(name) name
#define COUNT int
#define PLACE int       // a displacement in elements, or a unit in bytes
#define BYTES MPI_Aint  // a size in bytes
