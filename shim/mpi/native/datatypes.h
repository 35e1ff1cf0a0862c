// Facts that the shim must know of a datatype: its size, its float type, and whether it has gaps.
#pragma once

#include <cstdint>
#include <memory>

#include "shim/mpi/native/contents.h"
#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/type_map.h"
#include "shim/mpi/native/values.h"
#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Found out once and kept as an attribute of the datatype.
TypeFacts type_facts(MPI_Datatype type);

// Whether the MPI takes it in a call that communicates, which packed bytes would hide: it is
// committed. Asked of the MPI until it says so, then kept.
bool is_usable(MPI_Datatype type);

// Says, after the MPI has started, whether it was with MPI_THREAD_MULTIPLE.
void use_types_in_threads(bool concurrent);

// The program is about to free it. With MPI_THREAD_MULTIPLE what is kept of it ends here: MPICH
// would end an attribute wherever the last message of the type completes, within its progress too,
// and let other threads in there meanwhile.
void forget_type(MPI_Datatype type);

// The type's layout for packing on GPUs, from its first_byte() on; made once and kept with the
// type, whoever holds it may outlive that. nullptr, logged, for a type that cannot be flattened.
using LayoutPointer = std::shared_ptr<const tw_layout>;
LayoutPointer layout_of(MPI_Datatype type);

// The type as bytes in host memory, made once and kept with the type. Who holds either may outlive
// that: another thread may free the user's type by another handle of it while a call names this
// one. Both are missing if the type cannot be flattened or is not committed, and for the first
// messages of one that may have many blocks, the datatype also if the MPI cannot say it.
struct ByteForm {
  TypeMapPointer map;
  std::shared_ptr<const MPI_Datatype> type;
};
ByteForm byte_form_of(MPI_Datatype type);

// Whether byte_form_of() would leave the many blocks of a committed type unlisted, for now. What
// loops describe is found out here, once.
bool puts_off_list(MPI_Datatype type);

// The map that was made already, or nullptr.
TypeMapPointer known_map_of(MPI_Datatype type);

// Whether the MPI itself must judge this buffer: nothing lies at address 0 but what a type of
// absolute addresses (MPI_BOTTOM) means.
bool is_null_buffer(const void* buffer, MPI_Datatype type);

// `bytes` bytes as (count, datatype) for a call with an int count. `one_apart`: then a gap of one
// byte, and one more byte.
class ByteCount {
 public:
  explicit ByteCount(std::uint64_t bytes, bool one_apart = false);
  ~ByteCount();
  ByteCount(const ByteCount&) = delete;
  ByteCount& operator=(const ByteCount&) = delete;
  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  int count_;
  MPI_Datatype type_;
  bool owned_ = false;
};

// Copies between user memory of any datatype and dense bytes, partial last elements included.
int pack(const void* buffer, MPI_Count count, MPI_Datatype type, void* dense, std::uint64_t bytes);
// `is_new_use`: of the type, whose byte_form_of() nobody has asked for this message.
int unpack(const void* dense, std::uint64_t bytes, void* buffer, MPI_Count count, MPI_Datatype type,
           bool is_new_use = true);

void release_type_cache();

inline std::int64_t extent_of(MPI_Datatype type) {
  MPI_Count lower = 0, extent = 0;
  real().Type_get_extent_x(type, &lower, &extent);
  return extent;
}

// Named types cannot be freed.
inline bool is_derived(MPI_Datatype type) { return combiner_of(type) != MPI_COMBINER_NAMED; }

}  // namespace thinwire::mpi
