// File access, which GPU memory cannot take part in where the MPI does not reach it.
#include "calls/refuse.h"

THINWIRE_REFUSE(File_read_at,
                (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                 MPI_Status* status),
                (fh, offset, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_read_at_all,
                (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                 MPI_Status* status),
                (fh, offset, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_write_at,
                (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Status* status),
                (fh, offset, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_write_at_all,
                (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Status* status),
                (fh, offset, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iread_at,
                (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                 MPI_Request* request),
                (fh, offset, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iwrite_at,
                (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Request* request),
                (fh, offset, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iread_at_all,
                (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                 MPI_Request* request),
                (fh, offset, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iwrite_at_all,
                (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Request* request),
                (fh, offset, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_read,
                (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
                (fh, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_read_all,
                (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
                (fh, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_write,
                (MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Status* status),
                (fh, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_write_all,
                (MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Status* status),
                (fh, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iread,
                (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request),
                (fh, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iwrite,
                (MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Request* request),
                (fh, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iread_all,
                (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request),
                (fh, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iwrite_all,
                (MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Request* request),
                (fh, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_read_shared,
                (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
                (fh, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_write_shared,
                (MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Status* status),
                (fh, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iread_shared,
                (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request),
                (fh, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_iwrite_shared,
                (MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Request* request),
                (fh, buf, count, datatype, request), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_read_ordered,
                (MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status),
                (fh, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_write_ordered,
                (MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                 MPI_Status* status),
                (fh, buf, count, datatype, status), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_read_at_all_begin,
                (MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype),
                (fh, offset, buf, count, datatype), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_write_at_all_begin,
                (MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype),
                (fh, offset, buf, count, datatype), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_read_all_begin, (MPI_File fh, void* buf, int count, MPI_Datatype datatype),
                (fh, buf, count, datatype), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_write_all_begin,
                (MPI_File fh, const void* buf, int count, MPI_Datatype datatype),
                (fh, buf, count, datatype), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_read_ordered_begin, (MPI_File fh, void* buf, int count, MPI_Datatype datatype),
                (fh, buf, count, datatype), raise_on_file(fh), buf);
THINWIRE_REFUSE(File_write_ordered_begin,
                (MPI_File fh, const void* buf, int count, MPI_Datatype datatype),
                (fh, buf, count, datatype), raise_on_file(fh), buf);
