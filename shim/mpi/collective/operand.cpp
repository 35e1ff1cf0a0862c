#include "shim/mpi/collective/operand.h"

#include <algorithm>
#include <limits>

#include "shim/mpi/message/device.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

void* moved(const void* buffer, std::int64_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(buffer) + bytes);
}

int copy_gpu(const void* gpu, MPI_Datatype type, std::byte* dense, std::uint64_t bytes,
             bool pack_it) {
  tw_status status = TW_OK;
  if (type_facts(type).dense) {
    void* const user = const_cast<void*>(gpu);
    status = pack_it ? tw_memory_copy(dense, user, bytes) : tw_memory_copy(user, dense, bytes);
  } else {
    const LayoutPointer layout = layout_of(type);
    if (!layout) return MPI_ERR_TYPE;
    void* const first = const_cast<void*>(first_byte(gpu, type));
    status = pack_it ? tw_layout_pack(layout.get(), first, dense, bytes)
                     : tw_layout_unpack(layout.get(), dense, first, bytes);
  }
  if (status == TW_OK) return MPI_SUCCESS;
  tw_log(TW_LOG_ERROR, tw_last_error());
  return MPI_ERR_OTHER;
}

}  // namespace

Operand::Operand(const Side& side, int first, int blocks, std::uint64_t leaf_bytes)
    : side_(side), first_(first), blocks_(blocks), leaf_bytes_(leaf_bytes) {
  has_gaps_ = side.types != nullptr || !type_facts(side.type).dense;
  for (int block = first; block < first + blocks; ++block) {
    const Run run = run_of(block);
    bytes_ += run.bytes;
    if (run.count > 0 && on_device(run.at, run.count, run.type)) on_device_ = true;
  }
  data_ = const_cast<void*>(side.buffer);
}

Operand::Run Operand::run_of(int block) const {
  const MPI_Datatype type = side_.type_of(block);
  const std::int64_t count = side_.counts.count(block);
  std::int64_t offset = 0;
  if (side_.counts.has_places()) {
    offset = side_.counts.place(block) * (side_.types != nullptr ? 1 : extent_of(type));
  }
  return {moved(side_.buffer, offset), count, type, message_bytes(count, type)};
}

// Blocks without places are one run: their elements go on from block to block.
template <typename Visit>
int Operand::for_each_run(Visit&& visit) const {
  if (!side_.counts.has_places()) {
    std::int64_t elements = 0;
    for (int block = first_; block < first_ + blocks_; ++block)
      elements += side_.counts.count(block);
    return visit(Run{const_cast<void*>(side_.buffer), elements, side_.type, bytes_});
  }
  for (int block = first_; block < first_ + blocks_; ++block) {
    const int error = visit(run_of(block));
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

// True if floats do not lie where the blocks of bytes do.
bool Operand::lies_between_floats() const {
  std::int64_t extent = 0;
  for (int block = first_; block < first_ + blocks_; ++block) {
    if (side_.counts.count(block) == 0) continue;
    if (extent == 0) extent = extent_of(side_.type);
    const std::int64_t place = side_.counts.place(block) * extent;
    if (place % static_cast<std::int64_t>(leaf_bytes_) != 0) return true;
  }
  return false;
}

void Operand::find_places(std::vector<std::uint64_t>& places) {
  places.assign(static_cast<std::size_t>(blocks_), 0);
  has_gaps_ = has_gaps_ || lies_between_floats();
  if (has_gaps_) {
    std::uint64_t at = 0;
    for (int block = 0; block < blocks_; ++block) {
      places[static_cast<std::size_t>(block)] = at;
      at += run_of(first_ + block).bytes / leaf_bytes_;
    }
    return;
  }
  // Places may be negative: they are told from the lowest one on.
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  for (int block = first_; block < first_ + blocks_; ++block) {
    if (side_.counts.count(block) > 0) lowest = std::min(lowest, side_.counts.place(block));
  }
  if (lowest == std::numeric_limits<std::int64_t>::max()) return;
  const std::int64_t extent = extent_of(side_.type);
  data_ = moved(side_.buffer, lowest * extent);
  for (int block = 0; block < blocks_; ++block) {
    if (side_.counts.count(first_ + block) == 0) continue;
    const std::int64_t place = side_.counts.place(first_ + block) - lowest;
    places[static_cast<std::size_t>(block)] =
        static_cast<std::uint64_t>(place * extent) / leaf_bytes_;
  }
}

int Operand::transfer(const Run& run, std::byte* dense, std::uint64_t bytes, bool pack_it) const {
  if (bytes == 0) return MPI_SUCCESS;
  if (on_device_) return copy_gpu(run.at, run.type, dense, bytes, pack_it);
  return pack_it ? pack(run.at, run.count, run.type, dense, bytes)
                 : unpack(dense, bytes, run.at, run.count, run.type);
}

int Operand::prepare(bool read) {
  if (!has_gaps_ || bytes_ == 0) return MPI_SUCCESS;
  if (on_device_) {
    int device = -1;
    const int error = for_each_run([&](const Run& run) {
      return device >= 0 || run.bytes == 0 ? MPI_SUCCESS : find_device(run.at, run.type, &device);
    });
    if (error != MPI_SUCCESS) return error;
    packed_ = acquire_counted(TW_MEMORY_DEVICE, device, bytes_);
  } else {
    packed_ = process().pool.acquire(bytes_);
  }
  if (!packed_) {
    tw_log(TW_LOG_ERROR, "no memory for the elements of a compressed collective");
    return MPI_ERR_NO_MEM;
  }
  data_ = packed_.data();
  if (!read) return MPI_SUCCESS;
  std::byte* dense = packed_.data();
  return for_each_run([&](const Run& run) {
    const int error = transfer(run, dense, run.bytes, true);
    dense += run.bytes;
    return error;
  });
}

int Operand::write_back(std::uint64_t floats) {
  if (!packed_) return MPI_SUCCESS;
  std::byte* dense = packed_.data();
  std::uint64_t left = floats < bytes_ / leaf_bytes_ ? floats * leaf_bytes_ : bytes_;
  return for_each_run([&](const Run& run) {
    const std::uint64_t bytes = std::min(left, run.bytes);
    const int error = transfer(run, dense, bytes, false);
    dense += bytes;
    left -= bytes;
    return error;
  });
}

}  // namespace thinwire::mpi
