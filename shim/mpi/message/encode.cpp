#include "shim/mpi/message/encode.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "shim/mpi/choose/chosen.h"
#include "shim/mpi/message/device.h"
#include "shim/mpi/message/length.h"
#include "shim/mpi/message/sample.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/raise.h"
#include "shim/mpi/observe/attempt.h"
#include "shim/mpi/observe/ranges.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Tries to make a frame of the message.
Tried try_to_encode(const Chosen& chosen, Wire& wire) {
  const auto start = std::chrono::steady_clock::now();
  Encoded encoded = encode_elements(chosen);
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

int stage(const Outgoing& message, std::optional<Wire>& wire) {
  const std::uint64_t bytes = message_bytes(message.count, message.type);
  wire.emplace();
  wire->bytes = wire->raw_bytes = bytes;
  wire->form = Wire::Form::kUsersType;
  if (bytes == 0 || message.destination == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!type_facts(message.type).dense) wire->form = Wire::Form::kBytes;
  const int error = copy_to_pinned(message.buffer, message.type, bytes, wire->data);
  if (error != MPI_SUCCESS) return raise(message.comm, error);
  ++process().counters.staged_messages;
  process().counters.staged_bytes += bytes;
  return MPI_SUCCESS;
}

namespace {

// The bytes in scratch that the codec's processor reaches: where the data is on a GPU, there or
// pinned.
Lease acquire_wire(const Outgoing& message, const void* data, const Dense& array,
                   std::uint64_t bytes) {
  if (!message.on_device) return process().pool.acquire(bytes);
  tw_place place{};
  place.size = sizeof place;
  if (array.wire_on_device && tw_place_of(data, &place) == TW_OK && place.device >= 0) {
    Lease wire = acquire_counted(TW_MEMORY_DEVICE, place.device, bytes);
    if (wire) return wire;
  }
  return acquire_counted(TW_MEMORY_PINNED, -1, bytes);
}

// Makes the frame's padding zeros. False if the GPU refused.
bool pad(const Dense& array, const Lease& wire, std::uint64_t frame, std::uint64_t length) {
  if (!array.wire_on_device) {
    std::memset(wire.data() + frame, 0, length - frame);
    return true;
  }
  const Lease zeros = process().pool.acquire(length - frame);
  if (!zeros) return false;
  std::memset(zeros.data(), 0, length - frame);
  return copy_now(wire.data() + frame, zeros.data(), length - frame) == MPI_SUCCESS;
}

// Whether a frame is so much shorter that sending it gains.
bool is_worth(std::uint64_t frame, std::uint64_t bytes, const Dense& array) {
  return static_cast<double>(frame) * std::max(array.least_ratio, 1.0) < static_cast<double>(bytes);
}

// Why the array need not be tried: all pieces of a sample of it were declined, or one holds
// integers. What cannot be sampled counts as worth an attempt. On a GPU a launch costs what a
// sample would save.
tw_reason sample_declines(const Outgoing& message, const void* data, const Dense& array,
                          const tw_shape& shape, const tw_message_options& options,
                          const Lease& scratch, std::uint64_t capacity) {
  if (!array.sample_first || !array.use.samples_tell || message.on_device) return TW_COMPRESS;
  const tw_codec* codec = array.use.codec.get();
  for (std::uint32_t at = 0; at < kSamplePieces; ++at) {
    const auto piece = piece_of(shape, array.bytes, kSamplePieces * array.turn + at);
    std::uint64_t most = 0, written = 0;
    if (!piece || tw_message_bound(codec, &piece->shape, &most) != TW_OK || most > capacity) {
      return TW_COMPRESS;
    }
    const std::byte* const from = static_cast<const std::byte*>(data) + piece->offset;
    const std::uint64_t piece_bytes = array.bytes / shape.extent[0] * piece->shape.extent[0];
    const tw_status status =
        tw_message_encode(codec, &piece->shape, from, scratch.data(), capacity, &options, &written);
    if (status == TW_HOLDS_INTEGERS) return TW_RAW_INTEGERS;
    if (status != TW_DECLINED && (status != TW_OK || is_worth(written, piece_bytes, array))) {
      return TW_COMPRESS;
    }
  }
  return TW_RAW_DECLINED;
}

}  // namespace

Encoded encode_dense(const Outgoing& message, const void* data, const Dense& array) {
  const Process& self = process();
  tw_message_options options = self.options;
  options.least_ratio = array.least_ratio;
  const tw_codec* codec = array.use.codec.get();
  const auto shape = shape_of(codec, array.type, array.bytes);
  if (!shape) return {TW_RAW_SHAPE, {}};
  std::uint64_t most = 0;
  if (tw_message_bound(codec, &*shape, &most) != TW_OK) return {TW_RAW_DECLINED, {}};
  // Padding to the wire length comes on top.
  const std::uint64_t capacity = wire_length(most, array.bytes, array.shortest_wire);
  Lease wire = acquire_wire(message, data, array, capacity);
  if (!wire) return {TW_RAW_NO_MEMORY, {}};
  const tw_reason why = sample_declines(message, data, array, *shape, options, wire, capacity);
  if (why != TW_COMPRESS) return {why, {}};
  std::uint64_t frame = 0;
  const tw_status status =
      tw_message_encode(codec, &*shape, data, wire.data(), capacity, &options, &frame);
  if (status == TW_DEVICE) {
    ++process().counters.device_failures;
    return {TW_RAW_NO_MEMORY, {}};
  }
  if (status == TW_HOLDS_INTEGERS) return {TW_RAW_INTEGERS, {}};
  const std::uint64_t length = wire_length(frame, array.bytes, array.shortest_wire);
  if (status != TW_OK || !is_worth(length, array.bytes, array)) return {TW_RAW_DECLINED, {}};
  if (!pad(array, wire, frame, length)) return {TW_RAW_NO_MEMORY, {}};
  return {TW_COMPRESS, {Wire::Form::kFrame, std::move(wire), length, array.bytes}};
}

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
