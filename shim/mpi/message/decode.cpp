#include "shim/mpi/message/decode.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>

#include "shim/mpi/message/length.h"
#include "shim/mpi/native/element_bytes.h"
#include "shim/mpi/observe/ranges.h"
#include "shim/mpi/state/state.h"
#include "shim/mpi/state/unlinked_file.h"

namespace thinwire::mpi {

Kind examine(const void* wire, std::uint64_t bytes, std::uint64_t* raw_bytes) {
  *raw_bytes = bytes;
  if (!is_suspicious(bytes)) return Kind::kRaw;
  tw_message_info info{};
  info.size = sizeof info;
  switch (tw_message_inspect(wire, bytes, &process().options, &info)) {
    case TW_OK:
      *raw_bytes = info.raw_bytes;
      return Kind::kFrame;
    case TW_NOT_A_FRAME:
      return Kind::kRaw;
    default:
      return Kind::kDamaged;
  }
}

int lack_memory(std::uint64_t bytes) {
  ++process().counters.messages_without_memory;
  tw_log(TW_LOG_ERROR, ("rank " + std::to_string(process().world.rank) +
                        " has no memory, nor room in "
                        "TMPDIR, to decode a compressed message in: it needs " +
                        std::to_string(bytes) + " bytes")
                           .c_str());
  return MPI_ERR_NO_MEM;
}

void count_decode(tw_status status, std::chrono::steady_clock::time_point start) {
  if (status == TW_NOT_A_FRAME || status == TW_TOO_SMALL) return;
  Process& self = process();
  self.counters.decode_nanoseconds +=
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  if (status == TW_OK) {
    ++self.counters.decoded_messages;
  } else if (status == TW_DEVICE) {
    ++self.counters.device_failures;
  } else {
    ++self.counters.damaged_messages;
    tw_log(TW_LOG_ERROR, ("rank " + std::to_string(self.world.rank) +
                          " received a compressed message that does not decode: " + tw_last_error())
                             .c_str());
  }
}

tw_status decode(const void* wire, std::uint64_t bytes, void* out, std::uint64_t capacity) {
  const WatchedRange range("decode", nullptr, bytes);
  return counted_decode(
      [&] { return tw_message_decode(wire, bytes, out, capacity, &process().options, nullptr); });
}

namespace {

// Enough for every codec on a line; part of the library, so it is there when nothing else is.
alignas(64) std::byte g_workspace[260 << 10];
std::mutex g_workspace_mutex;  // nothing of MPI is called under it

// Source and destination of pieces; one of the two sources is set.
struct Ends {
  const UnlinkedFile* file;
  const std::byte* wire;
  ElementBytes elements;
  std::uint64_t capacity;
};

std::int32_t read_piece(void* context, std::uint64_t offset, std::uint64_t bytes, void* to) {
  const auto& ends = *static_cast<const Ends*>(context);
  if (ends.file != nullptr) return ends.file->read(offset, bytes, to) ? 0 : 1;
  std::memcpy(to, ends.wire + offset, bytes);
  return 0;
}

// Leaves out what does not fit the receive, as the MPI would.
std::int32_t write_piece(void* context, std::uint64_t offset, std::uint64_t bytes,
                         const void* from) {
  auto& ends = *static_cast<Ends*>(context);
  if (offset >= ends.capacity) return 0;
  ends.elements.write(offset, std::min(bytes, ends.capacity - offset),
                      static_cast<const std::byte*>(from));
  return 0;
}

// The workspace is in the caller's hands.
tw_status decode_between(Ends& ends, std::uint64_t bytes, std::uint64_t* raw_bytes,
                         std::uint64_t* lacking) {
  tw_pieces pieces{};
  pieces.size = sizeof pieces;
  pieces.context = &ends;
  pieces.read = read_piece;
  pieces.write = write_piece;
  pieces.workspace = g_workspace;
  pieces.workspace_bytes = sizeof g_workspace;
  tw_message_info info{};
  info.size = sizeof info;
  const auto decode_now = [&] {
    return tw_message_decode_in_pieces(&pieces, bytes, &process().options, &info);
  };
  tw_status status = decode_now();
  Lease more;
  if (status == TW_TOO_SMALL) {
    more = process().pool.acquire(pieces.needed_bytes);
    if (!more) {
      *lacking = pieces.needed_bytes;
      return status;
    }
    pieces.workspace = more.data();
    pieces.workspace_bytes = pieces.needed_bytes;
    status = decode_now();
  }
  *raw_bytes = info.raw_bytes;
  return status;
}

Pieced decode_from(Ends ends, std::uint64_t bytes) {
  std::uint64_t raw_bytes = 0, lacking = 0;
  const tw_status status =
      counted_decode([&] { return decode_between(ends, bytes, &raw_bytes, &lacking); });
  if (status == TW_NOT_A_FRAME) return {Kind::kRaw, MPI_SUCCESS, bytes};
  if (lacking != 0) return {Kind::kFrame, lack_memory(lacking), bytes};
  if (status != TW_OK) return {Kind::kDamaged, MPI_ERR_OTHER, bytes};
  return {Kind::kFrame, raw_bytes > ends.capacity ? MPI_ERR_TRUNCATE : MPI_SUCCESS, raw_bytes};
}

// Copies the first `bytes` bytes of the elements' stream.
bool copy_to_file(ElementBytes elements, std::uint64_t bytes, const UnlinkedFile& file) {
  for (std::uint64_t at = 0; at < bytes; at += sizeof g_workspace) {
    const std::uint64_t part = std::min<std::uint64_t>(bytes - at, sizeof g_workspace);
    elements.read(at, part, g_workspace);
    if (!file.write(at, part, g_workspace)) return false;
  }
  return true;
}

}  // namespace

Pieced decode_in_place_by_pieces(const Destination& destination, std::uint64_t bytes) {
  const ElementBytes elements(destination.elements());
  const UnlinkedFile file(bytes);
  const std::lock_guard lock(g_workspace_mutex);
  if (!file || !copy_to_file(elements, bytes, file)) {
    return {Kind::kFrame, lack_memory(bytes), bytes};
  }
  return decode_from({&file, nullptr, elements, destination.capacity}, bytes);
}

Pieced decode_by_pieces(const Destination& destination, const std::byte* wire,
                        std::uint64_t bytes) {
  const std::lock_guard lock(g_workspace_mutex);
  return decode_from({nullptr, wire, ElementBytes(destination.elements()), destination.capacity},
                     bytes);
}

}  // namespace thinwire::mpi
