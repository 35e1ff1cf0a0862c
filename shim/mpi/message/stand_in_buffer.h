// Host memory in the place of a collective's buffer on a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "shim/mpi/native/mpi_abi.h"
#include "shim/mpi/state/pool.h"

namespace thinwire::mpi {

// `count` elements from `place` elements after the buffer's address on.
struct Block {
  std::int64_t place;
  std::int64_t count;
};

// The same with a type of its own, from `offset` bytes after the buffer's address on.
struct TypedBlock {
  std::int64_t offset;
  std::int64_t count;
  MPI_Datatype type;
};

// Stands in for `buffer` in one call of the MPI: the same elements at the same distances from
// address(), in pinned memory as long as it is from the lowest to the highest of their bytes. A
// buffer that the MPI can reach stands for itself. What means no bytes is for the MPI to judge.
class StandInBuffer {
 public:
  StandInBuffer(const void* buffer, MPI_Datatype type, const std::vector<Block>& blocks);
  StandInBuffer(const void* buffer, std::vector<TypedBlock> blocks);
  StandInBuffer(const StandInBuffer&) = delete;
  StandInBuffer& operator=(const StandInBuffer&) = delete;

  // Takes host memory, and with `read` fills it from the GPU. Where it stands in, address() is not
  // `other`, the call's other buffer: MPIs take two sides at one address for MPI_IN_PLACE or for a
  // mistake. All return an MPI error code, logged.
  int prepare(bool read, const void* other = nullptr);
  // Fills it again.
  int read();
  // Brings the elements back to the GPU.
  int write_back();

  void* address() const { return address_; }

 private:
  bool take_memory(std::int64_t low, std::uint64_t bytes);
  int transfer_with_gaps(const TypedBlock& block, bool to_device);
  int transfer(bool to_device);

  void* buffer_;
  void* address_;
  std::vector<TypedBlock> blocks_;
  bool on_device_;
  Lease lease_;
  // The address where nothing counts. Each has its own, as prepare() says.
  alignas(16) char unused_[16] = {};
};

}  // namespace thinwire::mpi
