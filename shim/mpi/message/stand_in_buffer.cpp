#include "shim/mpi/message/stand_in_buffer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "shim/mpi/message/device.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"

namespace thinwire::mpi {
namespace {

char* first_element(const void* base, const TypedBlock& block) {
  return reinterpret_cast<char*>(reinterpret_cast<std::intptr_t>(base) + block.offset);
}

Lease acquire_pinned(std::uint64_t bytes) {
  Lease pinned = acquire_counted(TW_MEMORY_PINNED, -1, bytes);
  if (!pinned) tw_log(TW_LOG_ERROR, "no pinned memory for a collective on GPU memory");
  return pinned;
}

// From the lowest byte of some blocks to the end of the highest, after their buffer's address.
struct Span {
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();

  void include(const TypedBlock& block) {
    MPI_Count lowest = 0, length = 0;
    real().Type_get_true_extent_x(block.type, &lowest, &length);
    const std::int64_t first = block.offset + lowest;
    const std::int64_t last = first + (block.count - 1) * extent_of(block.type);
    low = std::min({low, first, last});
    high = std::max(high, std::max(first, last) + std::int64_t{length});
  }
};

}  // namespace

StandInBuffer::StandInBuffer(const void* buffer, MPI_Datatype type,
                             const std::vector<Block>& blocks)
    : buffer_(const_cast<void*>(buffer)), address_(buffer_), on_device_(false) {
  if (buffer == MPI_IN_PLACE || type == MPI_DATATYPE_NULL) return;
  on_device_ = must_be_staged(on_device(buffer, 1, type));
  if (!on_device_) return;
  const std::int64_t extent = extent_of(type);
  for (const Block& block : blocks) {
    if (message_bytes(block.count, type) == 0) continue;
    blocks_.push_back({block.place * extent, block.count, type});
  }
}

StandInBuffer::StandInBuffer(const void* buffer, std::vector<TypedBlock> blocks)
    : buffer_(const_cast<void*>(buffer)), address_(buffer_), on_device_(false) {
  if (buffer == MPI_IN_PLACE) return;
  on_device_ = must_be_staged(on_device(buffer, 0, MPI_DATATYPE_NULL));
  if (!on_device_) return;
  blocks_ = std::move(blocks);
  std::erase_if(
      blocks_, [](const TypedBlock& block) { return message_bytes(block.count, block.type) == 0; });
}

// The lowest byte comes first, so address() may lie before the memory: within another's, at its
// beginning too.
bool StandInBuffer::take_memory(std::int64_t low, std::uint64_t bytes) {
  Lease taken = acquire_pinned(bytes);
  if (!taken) return false;
  lease_ = std::move(taken);
  address_ = reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(lease_.data()) - low);
  return true;
}

int StandInBuffer::prepare(bool read, const void* other) {
  if (!on_device_) return MPI_SUCCESS;
  if (blocks_.empty()) {
    address_ = unused_;
    return MPI_SUCCESS;
  }
  Span span;
  for (const TypedBlock& block : blocks_) span.include(block);
  const auto bytes = static_cast<std::uint64_t>(span.high - span.low);
  if (!take_memory(span.low, bytes)) return MPI_ERR_NO_MEM;
  // The first is on loan until there is a second, which is elsewhere.
  if (address_ == other && !take_memory(span.low, bytes)) return MPI_ERR_NO_MEM;
  return read ? transfer(false) : MPI_SUCCESS;
}

int StandInBuffer::read() { return on_device_ ? transfer(false) : MPI_SUCCESS; }

int StandInBuffer::write_back() { return on_device_ ? transfer(true) : MPI_SUCCESS; }

// All copies are begun before the first is waited for.
int StandInBuffer::transfer(bool to_device) {
  int error = MPI_SUCCESS;
  std::vector<tw_copy*> copies;
  for (const TypedBlock& block : blocks_) {
    const TypeFacts facts = type_facts(block.type);
    if (!facts.dense) {
      if (error == MPI_SUCCESS) error = transfer_with_gaps(block, to_device);
      continue;
    }
    void *host = first_element(address_, block), *gpu = first_element(buffer_, block);
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

int StandInBuffer::transfer_with_gaps(const TypedBlock& block, bool to_device) {
  const std::uint64_t bytes = message_bytes(block.count, block.type);
  void *host = first_element(address_, block), *gpu = first_element(buffer_, block);
  const Lease packed = acquire_pinned(bytes);
  if (!packed) return MPI_ERR_NO_MEM;
  if (!to_device) {
    const int error = copy_from_device(gpu, block.type, packed, bytes);
    return error != MPI_SUCCESS ? error
                                : unpack(packed.data(), bytes, host, block.count, block.type);
  }
  const int error = pack(host, block.count, block.type, packed.data(), bytes);
  if (error != MPI_SUCCESS) return error;
  Destination destination;
  destination.buffer = gpu;
  destination.layout = layout_of(block.type);
  destination.first = const_cast<void*>(first_byte(gpu, block.type));
  return destination.layout ? copy_to_device(destination, packed, bytes) : MPI_ERR_TYPE;
}

}  // namespace thinwire::mpi
