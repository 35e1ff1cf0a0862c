// File access, which GPU memory cannot take part in if the MPI does not reach it.
#include "shim/mpi/entry/refuse.h"

// The calls differ in whether they are told an offset, whether they read or write, and what they
// report to.
#define THINWIRE_FILE(name, Data, Result)                                                         \
  THINWIRE_REFUSE(CALL(name),                                                                     \
                  (MPI_File fh, Data * buf, COUNT count, MPI_Datatype datatype, Result * result), \
                  (fh, buf, count, datatype, result), raise_on_file(fh), buf)

#define THINWIRE_FILE_AT(name, Data, Result)                                                       \
  THINWIRE_REFUSE(CALL(name),                                                                      \
                  (MPI_File fh, MPI_Offset offset, Data * buf, COUNT count, MPI_Datatype datatype, \
                   Result * result),                                                               \
                  (fh, offset, buf, count, datatype, result), raise_on_file(fh), buf)

#define THINWIRE_FILE_BEGIN(name, Data)                                                      \
  THINWIRE_REFUSE(CALL(name), (MPI_File fh, Data * buf, COUNT count, MPI_Datatype datatype), \
                  (fh, buf, count, datatype), raise_on_file(fh), buf)

#define THINWIRE_FILE_AT_BEGIN(name, Data)                                              \
  THINWIRE_REFUSE(                                                                      \
      CALL(name),                                                                       \
      (MPI_File fh, MPI_Offset offset, Data * buf, COUNT count, MPI_Datatype datatype), \
      (fh, offset, buf, count, datatype), raise_on_file(fh), buf)

// The order matters.
// clang-format off
#include "shim/mpi/entry/for_int_counts.h"
#include "shim/mpi/entry/refused_files.inc"
#include "shim/mpi/entry/for_large_counts.h"
#include "shim/mpi/entry/refused_files.inc"
// clang-format on
