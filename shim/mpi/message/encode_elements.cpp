#include "shim/mpi/message/encode_elements.h"

#include "shim/mpi/message/device.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/observe/ranges.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Whether the MPI is handed a frame in GPU memory, for it to reach as it reaches the program's own.
bool wire_on_device(const Outgoing& message, const Peer& peer) {
  if (!message.on_device || !mpi_reaches_gpus()) return false;
  const GpuWire where = process().settings.gpu_wire;
  return where == GpuWire::kDevice || (where == GpuWire::kAuto && peer.place == TW_PEER_SAME_NODE);
}

// The elements of a type with gaps, one after the other where its buffer lies; empty where that
// failed.
Lease pack_elements(const Outgoing& message, std::uint64_t bytes) {
  if (!message.on_device) {
    Lease packed = process().pool.acquire(bytes);
    if (packed &&
        pack(message.buffer, message.count, message.type, packed.data(), bytes) == MPI_SUCCESS) {
      return packed;
    }
    return {};
  }
  int device = -1;
  if (find_device(message.buffer, message.type, &device) != MPI_SUCCESS) return {};
  Lease packed = acquire_counted(TW_MEMORY_DEVICE, device, bytes);
  if (packed && copy_from_device(message.buffer, message.type, packed, bytes) == MPI_SUCCESS) {
    return packed;
  }
  return {};
}

}  // namespace

Encoded encode_elements(const Chosen& chosen) {
  const Attempt& attempt = chosen.attempt;
  const Outgoing& message = attempt.message;
  const Dense array{*attempt.use,
                    chosen.type,
                    attempt.bytes,
                    chosen.peer.inspect_threshold,
                    chosen.decision.least_ratio,
                    chosen.effort == choose::Effort::kSampleFirst,
                    chosen.channel->declines(),
                    wire_on_device(message, chosen.peer)};
  const WatchedRange range("encode", array.use.codec.get(), array.bytes);
  if (array.type.dense) return encode_dense(message, message.buffer, array);
  const Lease packed = pack_elements(message, array.bytes);
  if (!packed) return {TW_RAW_NO_MEMORY, {}};
  return encode_dense(message, packed.data(), array);
}

}  // namespace thinwire::mpi
