// Messages in GPU memory, for an MPI that cannot reach it: copies between there and pinned memory.
#pragma once

#include <cstdint>

#include "shim/mpi/message/destination.h"

namespace thinwire::mpi {

// Whether a buffer has to be kept from the MPI.
bool mpi_reaches_gpus();
inline bool must_be_staged(bool on_device) { return on_device && !mpi_reaches_gpus(); }

// acquire_scratch(), a failure counted.
Lease acquire_counted(tw_memory memory, int device, std::uint64_t bytes);

// A buffer that the MPI is given if it only looks at the arguments (no data, no peer).
void* untouched_buffer();

// The GPU that holds `buffer`. Returns an MPI error code, logged: MPI_ERR_BUFFER for memory that
// this library cannot reach.
int find_device(const void* buffer, MPI_Datatype type, int* device);

// Copies the first `bytes` bytes of a message at `buffer`, GPU memory, to `dense`, which GPUs
// reach; the copy is complete on return. Returns an MPI error code, logged.
int copy_from_device(const void* buffer, MPI_Datatype type, const Lease& dense,
                     std::uint64_t bytes);

// The same to pinned memory, which `pinned` gets. Returns an MPI error code, logged.
int copy_to_pinned(const void* buffer, MPI_Datatype type, std::uint64_t bytes, Lease& pinned);

// The reverse of copy_from_device(), from host or GPU memory; writes the type's own bytes only.
int copy_to_device(const Destination& destination, const Lease& dense, std::uint64_t bytes);

// A message's elements one after the other in host memory, which GPUs reach if the message lies in
// theirs; empty where that failed.
Lease copy_elements(const void* buffer, MPI_Count count, MPI_Datatype type, bool on_device,
                    std::uint64_t bytes);

// A copy between a GPU and pinned memory, begun: nullptr where it could not be. Both sides must
// stay until finish_copy(), which returns an MPI error code, logged.
tw_copy* start_copy(void* destination, const void* source, std::uint64_t bytes);
int finish_copy(tw_copy* copy);

// The same, complete on return.
int copy_now(void* destination, const void* source, std::uint64_t bytes);

// As memcpy(), between any two places; a failure is logged and counted.
void copy_anywhere(void* destination, const void* source, std::size_t bytes);

}  // namespace thinwire::mpi
