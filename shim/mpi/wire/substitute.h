// Host memory in the place of a collective's buffer on a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/mpi_abi.h"
#include "wire/pool.h"

namespace thinwire::mpi {

// `count` elements from `place` elements behind the buffer's address on.
struct Block {
  std::int64_t place;
  std::int64_t count;
};

// Stands in for `buffer` in one call of the MPI: the same elements at the same distances from
// address(). A buffer that the MPI can reach stands for itself.
class Substitute {
 public:
  Substitute(const void* buffer, MPI_Datatype type, std::vector<Block> blocks);

  // Takes host memory, and with `read` fills it from the GPU. Both return an MPI error code,
  // logged.
  int prepare(bool read);
  // Brings the elements back to the GPU.
  int write_back();

  void* address() const { return address_; }
  bool stands_in() const { return on_device_; }

 private:
  char* element(const void* base, const Block& block) const;
  int transfer_with_gaps(const Block& block, bool to_device);
  int transfer(bool to_device);

  void* buffer_;
  void* address_;
  MPI_Datatype type_;
  std::vector<Block> blocks_;
  bool on_device_;
  Lease lease_;
  MPI_Count extent_ = 0;
};

}  // namespace thinwire::mpi
