#include "shim/mpi/message/device.h"

#include <chrono>
#include <cstring>
#include <string>

#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/fast_path.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

class StagingTime {
 public:
  ~StagingTime() {
    process().counters.staging_nanoseconds +=
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int failed(const char* what, int error) {
  Process& self = process();
  if (error != MPI_ERR_NO_MEM) ++self.counters.device_failures;  // scratch is counted already
  tw_log(TW_LOG_ERROR,
         ("rank " + std::to_string(self.world.rank) + " " + what + ": " + tw_last_error()).c_str());
  return error;
}

}  // namespace

Lease acquire_counted(tw_memory memory, int device, std::uint64_t bytes) {
  Lease scratch = acquire_scratch(memory, device, bytes);
  if (!scratch) ++process().counters.device_failures;
  return scratch;
}

bool mpi_reaches_gpus() { return process().gpu_aware; }

void* untouched_buffer() {
  alignas(64) static std::byte nothing[64];
  return nothing;
}

int find_device(const void* buffer, MPI_Datatype type, int* device) {
  tw_place place{};
  place.size = sizeof place;
  const bool dense = type_facts(type).dense;
  if (tw_place_of(dense ? buffer : first_byte(buffer, type), &place) != TW_OK) {
    return failed("cannot reach a message's GPU memory", MPI_ERR_BUFFER);
  }
  *device = place.device;
  return MPI_SUCCESS;
}

int copy_from_device(const void* buffer, MPI_Datatype type, const Lease& dense,
                     std::uint64_t bytes) {
  const StagingTime time;
  tw_status status = TW_OK;
  if (type_facts(type).dense) {
    status = tw_memory_copy(dense.data(), buffer, bytes);
  } else {
    const LayoutPointer layout = layout_of(type);
    if (!layout) return MPI_ERR_TYPE;
    status = tw_layout_pack(layout.get(), first_byte(buffer, type), dense.data(), bytes);
  }
  return status == TW_OK ? MPI_SUCCESS
                         : failed("cannot copy a message from GPU memory", MPI_ERR_OTHER);
}

int copy_to_pinned(const void* buffer, MPI_Datatype type, std::uint64_t bytes, Lease& pinned) {
  int device = -1;
  const int error = find_device(buffer, type, &device);
  if (error != MPI_SUCCESS) return error;
  pinned = acquire_counted(TW_MEMORY_PINNED, -1, bytes);
  return pinned ? copy_from_device(buffer, type, pinned, bytes)
                : failed("has no pinned memory for a message", MPI_ERR_NO_MEM);
}

int copy_to_device(const Destination& destination, const Lease& dense, std::uint64_t bytes) {
  const StagingTime time;
  tw_status status = TW_OK;
  if (destination.dense) {
    status = tw_memory_copy(destination.buffer, dense.data(), bytes);
  } else if (dense.gpus_reach()) {
    status = tw_layout_unpack(destination.layout.get(), dense.data(), destination.first, bytes);
  } else {
    const Lease pinned = acquire_counted(TW_MEMORY_PINNED, -1, bytes);
    if (!pinned) return failed("has no pinned memory for a message", MPI_ERR_NO_MEM);
    std::memcpy(pinned.data(), dense.data(), bytes);
    status = tw_layout_unpack(destination.layout.get(), pinned.data(), destination.first, bytes);
  }
  return status == TW_OK ? MPI_SUCCESS
                         : failed("cannot copy a message to GPU memory", MPI_ERR_OTHER);
}

Lease copy_elements(const void* buffer, MPI_Count count, MPI_Datatype type, bool on_device,
                    std::uint64_t bytes) {
  Lease copy =
      on_device ? acquire_counted(TW_MEMORY_PINNED, -1, bytes) : process().pool.acquire(bytes);
  const bool is_copied =
      copy && (on_device ? copy_from_device(buffer, type, copy, bytes)
                         : pack(buffer, count, type, copy.data(), bytes)) == MPI_SUCCESS;
  return is_copied ? std::move(copy) : Lease();
}

tw_copy* start_copy(void* destination, const void* source, std::uint64_t bytes) {
  const StagingTime time;
  tw_copy* copy = nullptr;
  return tw_memory_copy_start(destination, source, bytes, &copy) == TW_OK ? copy : nullptr;
}

int finish_copy(tw_copy* copy) {
  const StagingTime time;
  return tw_copy_finish(copy) == TW_OK
             ? MPI_SUCCESS
             : failed("cannot copy between GPU memory and the MPI", MPI_ERR_OTHER);
}

int copy_now(void* destination, const void* source, std::uint64_t bytes) {
  const StagingTime time;
  return tw_memory_copy(destination, source, bytes) == TW_OK
             ? MPI_SUCCESS
             : failed("cannot copy between GPU memory and the MPI", MPI_ERR_OTHER);
}

void copy_anywhere(void* destination, const void* source, std::size_t bytes) {
  copy_now(destination, source, bytes);
}

}  // namespace thinwire::mpi
