#include "message/enqueue.h"

#include "device/context.h"
#include "message/allowed.h"
#include "message/fills/fills.h"
#include "message/gpu.h"

namespace thinwire::message {
namespace {

constexpr std::uint64_t kWorkspaceAlignment = 16;

std::uint64_t codec_workspace(const Coder& coder, const codec::Chunk& array) {
  return coder.codec->device->workspace_bytes(coder.layout(array), coder.parameter);
}

// An array of nothing misses nothing.
bool has_fills(const Coder& coder, const codec::Chunk& array) {
  return coder.fill.exists() && array.shape.count() > 0;
}

// Workspace for an array that bound() has taken.
Result<std::uint64_t> needed_workspace(const Coder& coder, const codec::Chunk& array) {
  if (coder.codec->device == nullptr) {
    return {StatusCode::kUnsupported,
            std::string(coder.codec->name) + " has no GPU side in this build"};
  }
  if (Status status = check_usable(*coder.codec, true); !status.ok()) return status;
  const std::uint64_t own = codec_workspace(coder, array);
  return has_fills(coder, array) ? aligned(own) + fills::scratch_bytes(coder, array) : own;
}

Status check_workspace(const Coder& coder, const codec::Chunk& array, const Lent& lent) {
  auto each = needed_workspace(coder, array);
  if (!each.ok()) return each.status();
  std::uint64_t needed = *each;
  const bool is_block = lent.blocks != nullptr || lent.given != nullptr || lent.seal != nullptr;
  if (is_block && has_fills(coder, array)) {
    return {StatusCode::kUnsupported, "blocks of collectives are not coded under fill="};
  }
  if (lent.blocks != nullptr) {
    if (!coder.codec->device->takes_blocks || coder.codec->open(coder.parameter)) {
      return {StatusCode::kUnsupported, std::string(coder.codec->name) + " takes no blocks"};
    }
    needed += lent.blocks->workspace_stride * static_cast<std::uint64_t>(lent.blocks->count - 1);
  }
  if (lent.workspace_bytes < needed) {
    return {StatusCode::kTooSmall, "the workspace must have " + std::to_string(needed) +
                                       " bytes, it has " + std::to_string(lent.workspace_bytes)};
  }
  if (reinterpret_cast<std::uintptr_t>(lent.workspace) % kWorkspaceAlignment != 0) {
    return {StatusCode::kInvalidArgument, "the workspace must be aligned to 16 bytes"};
  }
  return {};
}

// Makes the device current on which the memory lies; a stream must be of that device.
Result<device::ContextGuard> enter_device_of(const Lent& lent, const std::byte* one,
                                             const std::byte* other) {
  if (lent.in_context) return device::ContextGuard();
  int device = -1;
  for (const std::byte* side : {one, other}) {
    const auto place = device::place_of(side);
    if (!place.ok()) return place.status();
    if (place->memory == device::Memory::kHost) {
      return {StatusCode::kInvalidArgument, "enqueued work needs GPU or pinned memory"};
    }
    if (place->device >= 0) device = place->device;
  }
  if (device < 0) {
    return {StatusCode::kInvalidArgument, "neither side of the enqueued work is GPU memory"};
  }
  return device::ContextGuard::enter(device);
}

// The parts of a workspace under "fill=". Arrays of other shapes had other parts there.
fills::Room part_workspace(const Coder& coder, const codec::Chunk& array, const Lent& lent) {
  const std::uint64_t own = codec_workspace(coder, array);
  return {.workspace = lent.workspace,
          .scratch = lent.workspace + aligned(own),
          .outcome = lent.outcome,
          .unknown_bytes = own};
}

}  // namespace

Result<std::uint64_t> workspace_bytes(const Coder& coder, const codec::Chunk& array) {
  auto most = bound(coder, array);
  return most.ok() ? needed_workspace(coder, array) : most.status();
}

Status enqueue_encode(const Coder& coder, const codec::Chunk& array, const std::byte* source,
                      MutableByteView destination, const EncodeOptions& options, const Lent& lent) {
  // No raw frame is ever written here, which alone may be longer than a fixed size.
  const bool is_fixed = coder.codec->fixed_size && !coder.fill.exists();
  auto most = is_fixed ? fixed_bytes(coder, array) : bound(coder, array);
  if (!most.ok()) return most.status();
  if (Status status = check_workspace(coder, array, lent); !status.ok()) return status;
  if (Status status = check_capacity(*most, destination.size()); !status.ok()) return status;
  const auto current = enter_device_of(lent, source, destination.data());
  if (!current.ok()) return current.status();
  if (has_fills(coder, array)) {
    return fills::enqueue_encode(coder, array, source, destination.data(), array.raw_bytes(),
                                 options, part_workspace(coder, array, lent));
  }
  codec::EncodeJob job = make_encode_job(coder, array, source, options);
  job.frame = destination.data();
  job.limit = array.raw_bytes();
  job.workspace = lent.workspace;
  job.outcome = lent.outcome;
  job.stream = options.stream;
  job.given = lent.given;
  if (lent.seal != nullptr) job.seal = *lent.seal;
  job.blocks = lent.blocks;
  return coder.codec->device->encode(job);
}

Status enqueue_decode(const Coder& coder, const codec::Chunk& array, ByteView source,
                      MutableByteView destination, const codec::Accumulate& accumulate,
                      const EncodeOptions& options, const Lent& lent) {
  if (auto most = bound(coder, array); !most.ok()) return most.status();
  if (Status status = check_allowed(*coder.codec); !status.ok()) return status;
  if (Status status = check_workspace(coder, array, lent); !status.ok()) return status;
  if (destination.size() < array.raw_bytes()) {
    return {StatusCode::kTooSmall, "the array has " + std::to_string(array.raw_bytes()) +
                                       " bytes, the destination " +
                                       std::to_string(destination.size())};
  }
  if (accumulate.adds && !is_added(array.dtype)) {
    return {StatusCode::kUnsupported,
            std::string("an array of ") + dtype_name(array.dtype) + " cannot be added to another"};
  }
  const auto current = enter_device_of(lent, source.data(), destination.data());
  if (!current.ok()) return current.status();
  const Info info{make_header(coder, array, options.chunk_checksums), coder.codec, options.mark};
  if (has_fills(coder, array)) {
    return fills::enqueue_decode(info, source, destination.data(), accumulate, options.stream,
                                 part_workspace(coder, array, lent));
  }
  codec::DecodeJob job = make_decode_job(info, source, destination.data(), accumulate);
  job.workspace = lent.workspace;
  job.outcome = lent.outcome;
  job.stream = options.stream;
  job.blocks = lent.blocks;
  return coder.codec->device->decode(job);
}

}  // namespace thinwire::message
