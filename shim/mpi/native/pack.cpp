// Bytes for calls with an int count, and copies between elements and dense bytes.
#include <climits>

#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/world.h"

namespace thinwire::mpi {

ByteCount::ByteCount(std::uint64_t bytes, bool one_apart)
    : count_(static_cast<int>(bytes)), type_(MPI_BYTE) {
  if (one_apart) {
    const ByteCount first(bytes);
    int lengths[2] = {first.count(), 1};
    MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes + 1)};
    MPI_Datatype types[2] = {first.type(), MPI_BYTE};
    real().Type_create_struct(2, lengths, places, types, &type_);
    real().Type_commit(&type_);
    count_ = 1;
    owned_ = true;
    return;
  }
  if (bytes <= INT_MAX) return;
  constexpr std::uint64_t kBlock = 1 << 30;
  MPI_Datatype block = MPI_BYTE;
  real().Type_contiguous(static_cast<int>(kBlock), MPI_BYTE, &block);
  int lengths[2] = {static_cast<int>(bytes / kBlock), static_cast<int>(bytes % kBlock)};
  MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes / kBlock * kBlock)};
  MPI_Datatype types[2] = {block, MPI_BYTE};
  real().Type_create_struct(2, lengths, places, types, &type_);
  real().Type_commit(&type_);
  real().Type_free(&block);
  count_ = 1;
  owned_ = true;
}

ByteCount::~ByteCount() {
  if (owned_) real().Type_free(&type_);
}

namespace {

TypeMapPointer made_map_of(MPI_Datatype type) { return byte_form_of(type).map; }

// Finds where the bytes lie, if that can be said. `map_of` is what may be made for it.
bool find_elements(const void* buffer, MPI_Datatype type, Elements& elements,
                   TypeMapPointer (*map_of)(MPI_Datatype)) {
  elements.buffer = const_cast<void*>(buffer);
  if (type_facts(type).dense) return true;
  elements.map = map_of(type);
  return elements.map != nullptr;
}

}  // namespace

// For other types a message to oneself: the one conversion that MPI defines for any datatype. It
// also judges arguments that mean no bytes.
int pack(const void* buffer, MPI_Count count, MPI_Datatype type, void* dense, std::uint64_t bytes) {
  Elements elements;
  if (bytes > 0 && find_elements(buffer, type, elements, made_map_of)) {
    gather(elements, bytes, dense);
    return MPI_SUCCESS;
  }
  const ByteCount as_bytes(bytes);
  return self_copy(buffer, count, type, dense, as_bytes.count(), as_bytes.type());
}

int unpack(const void* dense, std::uint64_t bytes, void* buffer, MPI_Count count, MPI_Datatype type,
           bool is_new_use) {
  Elements elements;
  if (bytes > 0 && find_elements(buffer, type, elements, is_new_use ? made_map_of : known_map_of)) {
    scatter(dense, bytes, elements);
    return MPI_SUCCESS;
  }
  const ByteCount as_bytes(bytes);
  return self_copy(dense, as_bytes.count(), as_bytes.type(), buffer, count, type);
}

}  // namespace thinwire::mpi
