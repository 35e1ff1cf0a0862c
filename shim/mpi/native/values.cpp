#include "shim/mpi/native/values.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

const void* first_byte(const void* buffer, MPI_Datatype type) {
  MPI_Count lower = 0, extent = 0;
  real().Type_get_true_extent_x(type, &lower, &extent);
  return reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(buffer) + lower);
}

bool bottom_is_on_device(MPI_Datatype type) {
  const void* first = first_byte(MPI_BOTTOM, type);
  return first != nullptr && tw_on_device(first) != 0;
}

std::uint64_t wide_message_bytes(MPI_Count count, MPI_Datatype type) {
  MPI_Count wide = 0;
  real().Type_size_x(type, &wide);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(wide);
}

namespace {

// Handles of Open MPI are known once the process runs. One that an MPI lacks is a null handle,
// which no datatype has.
bool is_one_of(MPI_Datatype type, std::initializer_list<MPI_Datatype> those) {
  return std::ranges::find(those, type) != those.end();
}

bool is_real(MPI_Datatype type) {
  return is_one_of(type,
                   {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8});
}

// Two reals one after the other: MPI defines Fortran's pairs so, and complex numbers of all
// languages lie so.
bool is_pair(MPI_Datatype type) {
  return is_one_of(type, {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
                          MPI_CXX_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8,
                          MPI_COMPLEX16, MPI_2REAL, MPI_2DOUBLE_PRECISION});
}

bool is_word(MPI_Datatype type) {
  return is_one_of(type, {MPI_BYTE, MPI_UINT8_T, MPI_INT8_T, MPI_UNSIGNED_CHAR, MPI_SIGNED_CHAR,
                          MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT16_T, MPI_UINT16_T});
}

}  // namespace

bool is_wide_real(MPI_Datatype type) { return is_one_of(type, {MPI_LONG_DOUBLE, MPI_REAL16}); }

bool is_wide_complex(MPI_Datatype type) {
  return is_one_of(type, {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_COMPLEX32});
}

bool is_pair_to_compare(MPI_Datatype type) {
  return is_one_of(type, {MPI_2REAL, MPI_2DOUBLE_PRECISION});
}

Leaves leaves_of(MPI_Datatype type, int combiner, std::uint64_t size) {
  Leaves found;
  if (combiner == MPI_COMBINER_F90_REAL || is_real(type)) found.values = Values::kReals;
  if (combiner == MPI_COMBINER_F90_COMPLEX || is_pair(type)) found.values = Values::kPairs;
  if (is_word(type)) found.values = Values::kWords;
  if (found.values != Values::kReals && found.values != Values::kPairs) return found;
  const std::uint64_t each = found.values == Values::kPairs ? size / 2 : size;
  if (each != 4 && each != 8) return {};
  found.leaf = each == 4 ? TW_F32 : TW_F64;
  return found;
}

}  // namespace thinwire::mpi
