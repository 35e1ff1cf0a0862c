#include "shim/mpi/message/encode.h"

#include <chrono>
#include <utility>

#include "shim/mpi/choose/chosen.h"
#include "shim/mpi/message/device.h"
#include "shim/mpi/message/encode_dense.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/observe/attempt.h"
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

Encoded encode_elements(const Outgoing& message, const Dense& array) {
  const WatchedRange range("encode", array.use.codec.get(), array.bytes);
  if (array.type.dense) return encode_dense(message, message.buffer, array);
  const Lease packed = pack_elements(message, array.bytes);
  if (!packed) return {TW_RAW_NO_MEMORY, {}};
  return encode_dense(message, packed.data(), array);
}

// Tries to make a frame of the message.
Tried try_to_encode(const Chosen& chosen, Wire& wire) {
  const Attempt& attempt = chosen.attempt;
  const auto start = std::chrono::steady_clock::now();
  Encoded encoded = encode_elements(
      attempt.message, {*attempt.use, chosen.type, attempt.bytes, chosen.peer.inspect_threshold,
                        chosen.decision.least_ratio, chosen.effort == Effort::kSampleFirst,
                        chosen.channel->declines(), wire_on_device(attempt.message, chosen.peer)});
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  wire = std::move(encoded.wire);
  return {encoded.reason, static_cast<std::uint64_t>(took.count()), wire.bytes};
}

}  // namespace

std::optional<Wire> encode(const Outgoing& message) {
  if (!message.may_compress) {
    observe(left_by_mode(message));
    return std::nullopt;
  }
  std::optional<Chosen> chosen = choose_for(message);
  if (!chosen) return std::nullopt;
  Wire wire;
  Tried tried;
  if (chosen->attempt.reason == TW_COMPRESS) tried = try_to_encode(*chosen, wire);
  learn(tried, *chosen);
  observe(chosen->attempt);
  if (chosen->attempt.reason != TW_COMPRESS) return std::nullopt;
  wire.attempt = chosen->attempt;
  return wire;
}

}  // namespace thinwire::mpi
