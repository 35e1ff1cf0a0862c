#include "shim/mpi/message/decode.h"

#include <string>

#include "shim/mpi/message/length.h"
#include "shim/mpi/observe/ranges.h"
#include "shim/mpi/state/state.h"

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

}  // namespace thinwire::mpi
