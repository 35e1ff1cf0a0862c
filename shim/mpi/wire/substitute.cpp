#include "wire/substitute.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "process/shortcut.h"
#include "wire/device.h"

namespace thinwire::mpi {

Substitute::Substitute(const void* buffer, MPI_Datatype type, std::vector<Block> blocks)
    : buffer_(const_cast<void*>(buffer)),
      address_(buffer_),
      type_(type),
      blocks_(std::move(blocks)),
      on_device_(false) {
  if (buffer == MPI_IN_PLACE || type == MPI_DATATYPE_NULL) return;
  on_device_ = must_be_staged(on_device(buffer, 1, type));
}

int Substitute::prepare(bool read) {
  if (!on_device_) return MPI_SUCCESS;
  MPI_Count lower = 0, true_lower = 0, true_extent = 0;
  real().Type_get_extent_x(type_, &lower, &extent_);
  real().Type_get_true_extent_x(type_, &true_lower, &true_extent);
  const std::int64_t first = true_lower, length = true_extent;
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0;
  std::erase_if(blocks_, [](const Block& block) { return block.count <= 0; });
  for (const Block& block : blocks_) {
    const std::int64_t ends[] = {block.place * extent_, (block.place + block.count - 1) * extent_};
    low = std::min({low, ends[0] + first, ends[1] + first});
    high = std::max({high, ends[0] + first + length, ends[1] + first + length});
  }
  if (blocks_.empty() || low >= high) {
    blocks_.clear();
    address_ = untouched_buffer();
    return MPI_SUCCESS;
  }
  lease_ = acquire_counted(TW_MEMORY_PINNED, -1, static_cast<std::uint64_t>(high - low));
  if (!lease_) return MPI_ERR_NO_MEM;
  address_ = reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(lease_.data()) - low);
  return read ? transfer(false) : MPI_SUCCESS;
}

int Substitute::write_back() { return on_device_ ? transfer(true) : MPI_SUCCESS; }

char* Substitute::element(const void* base, const Block& block) const {
  return reinterpret_cast<char*>(reinterpret_cast<std::intptr_t>(base) + block.place * extent_);
}

// All copies are begun before the first is waited for.
int Substitute::transfer(bool to_device) {
  const TypeFacts facts = type_facts(type_);
  int error = MPI_SUCCESS;
  std::vector<tw_copy*> copies;
  for (const Block& block : blocks_) {
    if (!facts.dense) {
      if (error == MPI_SUCCESS) error = transfer_with_gaps(block, to_device);
      continue;
    }
    void *host = element(address_, block), *gpu = element(buffer_, block);
    const std::uint64_t bytes = facts.size * static_cast<std::uint64_t>(block.count);
    void *to = to_device ? gpu : host, *from = to_device ? host : gpu;
    tw_copy* copy = start_copy(to, from, bytes);
    if (copy != nullptr) {
      copies.push_back(copy);
    } else if (error == MPI_SUCCESS) {
      error = copy_now(to, from, bytes);
    }
  }
  for (tw_copy* copy : copies) {
    const int finished = finish_copy(copy);
    if (error == MPI_SUCCESS) error = finished;
  }
  return error;
}

int Substitute::transfer_with_gaps(const Block& block, bool to_device) {
  const std::uint64_t bytes = message_bytes(block.count, type_);
  void *host = element(address_, block), *gpu = element(buffer_, block);
  const Lease packed = acquire_counted(TW_MEMORY_PINNED, -1, bytes);
  if (!packed) return MPI_ERR_NO_MEM;
  if (!to_device) {
    const int error = copy_from_device(gpu, type_, packed, bytes);
    return error != MPI_SUCCESS ? error : unpack(packed.data(), bytes, host, block.count, type_);
  }
  const int error = pack(host, block.count, type_, packed.data(), bytes);
  if (error != MPI_SUCCESS) return error;
  Destination destination;
  destination.buffer = gpu;
  destination.layout = layout_of(type_);
  destination.first = const_cast<void*>(first_byte(gpu, type_));
  return destination.layout ? copy_to_device(destination, packed, bytes) : MPI_ERR_TYPE;
}

}  // namespace thinwire::mpi
