// The mpi.h of the handle ABI that this object is built for: Open MPI's, MPICH's, or MPI 5's.
//
// Open MPI's handles are addresses of the MPI's own objects. They are reached through a table that
// is filled at run time: the shim links no MPI, and a direct reference to such an object would make
// the preload fail in bash. The handles of the others are plain numbers.
#pragma once

#ifdef THINWIRE_MPI_ABI
#include <mpi_abi.h>
#else
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

#include "shim/mpi/native/later_calls.h"

// clang-format off
#ifdef OPEN_MPI
#define THINWIRE_MPI_OBJECTS(X)                                                          \
  X(ompi_mpi_comm_world) X(ompi_mpi_comm_self) X(ompi_mpi_comm_null)                     \
  X(ompi_request_null) X(ompi_message_null) X(ompi_message_no_proc)                      \
  X(ompi_mpi_datatype_null) X(ompi_mpi_byte) X(ompi_mpi_float) X(ompi_mpi_real)          \
  X(ompi_mpi_real4) X(ompi_mpi_double) X(ompi_mpi_real8) X(ompi_mpi_dblprec)             \
  X(ompi_mpi_2real) X(ompi_mpi_2dblprec) X(ompi_mpi_c_float_complex)                     \
  X(ompi_mpi_c_double_complex) X(ompi_mpi_cxx_cplex) X(ompi_mpi_cxx_dblcplex)            \
  X(ompi_mpi_cplex) X(ompi_mpi_dblcplex) X(ompi_mpi_complex8) X(ompi_mpi_complex16)      \
  X(ompi_mpi_uint8_t) X(ompi_mpi_int8_t) X(ompi_mpi_unsigned_char)                       \
  X(ompi_mpi_signed_char) X(ompi_mpi_short) X(ompi_mpi_unsigned_short)                   \
  X(ompi_mpi_int16_t) X(ompi_mpi_uint16_t)                                               \
  X(ompi_mpi_uint64_t) X(ompi_mpi_unsigned_long_long) X(ompi_mpi_count)                \
  X(ompi_mpi_long_double) X(ompi_mpi_c_long_double_complex) X(ompi_mpi_cxx_ldblcplex)    \
  X(ompi_mpi_real16) X(ompi_mpi_complex32)                                               \
  X(ompi_mpi_int32_t) X(ompi_mpi_op_sum) X(ompi_mpi_op_prod)        \
  X(ompi_mpi_op_min) X(ompi_mpi_op_max) X(ompi_mpi_errors_return)                        \
  X(ompi_mpi_info_null) X(ompi_mpi_errhandler_null) X(ompi_mpi_group_null)
#else
#define THINWIRE_MPI_OBJECTS(X)
#endif
// clang-format on

namespace thinwire::mpi {

struct Objects {
#define THINWIRE_OBJECT(name) void* name = nullptr;
  THINWIRE_MPI_OBJECTS(THINWIRE_OBJECT)
#undef THINWIRE_OBJECT
};

extern Objects objects;

}  // namespace thinwire::mpi

#ifdef OPEN_MPI
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::thinwire::mpi::objects.global))
#endif
