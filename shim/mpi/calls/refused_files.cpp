// File access, which GPU memory cannot take part in where the MPI does not reach it.
#include "calls/refuse.h"

// The calls differ in whether they are told an offset, whether they read or write, and what they
// report to.
#define THINWIRE_FILE(name, Data, Result)                                                      \
  THINWIRE_REFUSE(name,                                                                        \
                  (MPI_File fh, Data * buf, int count, MPI_Datatype datatype, Result* result), \
                  (fh, buf, count, datatype, result), raise_on_file(fh), buf)

#define THINWIRE_FILE_AT(name, Data, Result)                                                     \
  THINWIRE_REFUSE(name,                                                                          \
                  (MPI_File fh, MPI_Offset offset, Data * buf, int count, MPI_Datatype datatype, \
                   Result* result),                                                              \
                  (fh, offset, buf, count, datatype, result), raise_on_file(fh), buf)

#define THINWIRE_FILE_BEGIN(name, Data)                                              \
  THINWIRE_REFUSE(name, (MPI_File fh, Data * buf, int count, MPI_Datatype datatype), \
                  (fh, buf, count, datatype), raise_on_file(fh), buf)

#define THINWIRE_FILE_AT_BEGIN(name, Data)                                                        \
  THINWIRE_REFUSE(name,                                                                           \
                  (MPI_File fh, MPI_Offset offset, Data * buf, int count, MPI_Datatype datatype), \
                  (fh, offset, buf, count, datatype), raise_on_file(fh), buf)

THINWIRE_FILE_AT(File_read_at, void, MPI_Status);
THINWIRE_FILE_AT(File_read_at_all, void, MPI_Status);
THINWIRE_FILE_AT(File_write_at, const void, MPI_Status);
THINWIRE_FILE_AT(File_write_at_all, const void, MPI_Status);
THINWIRE_FILE_AT(File_iread_at, void, MPI_Request);
THINWIRE_FILE_AT(File_iwrite_at, const void, MPI_Request);
THINWIRE_FILE_AT(File_iread_at_all, void, MPI_Request);
THINWIRE_FILE_AT(File_iwrite_at_all, const void, MPI_Request);
THINWIRE_FILE(File_read, void, MPI_Status);
THINWIRE_FILE(File_read_all, void, MPI_Status);
THINWIRE_FILE(File_write, const void, MPI_Status);
THINWIRE_FILE(File_write_all, const void, MPI_Status);
THINWIRE_FILE(File_iread, void, MPI_Request);
THINWIRE_FILE(File_iwrite, const void, MPI_Request);
THINWIRE_FILE(File_iread_all, void, MPI_Request);
THINWIRE_FILE(File_iwrite_all, const void, MPI_Request);
THINWIRE_FILE(File_read_shared, void, MPI_Status);
THINWIRE_FILE(File_write_shared, const void, MPI_Status);
THINWIRE_FILE(File_iread_shared, void, MPI_Request);
THINWIRE_FILE(File_iwrite_shared, const void, MPI_Request);
THINWIRE_FILE(File_read_ordered, void, MPI_Status);
THINWIRE_FILE(File_write_ordered, const void, MPI_Status);
THINWIRE_FILE_AT_BEGIN(File_read_at_all_begin, void);
THINWIRE_FILE_AT_BEGIN(File_write_at_all_begin, const void);
THINWIRE_FILE_BEGIN(File_read_all_begin, void);
THINWIRE_FILE_BEGIN(File_write_all_begin, const void);
THINWIRE_FILE_BEGIN(File_read_ordered_begin, void);
THINWIRE_FILE_BEGIN(File_write_ordered_begin, const void);
