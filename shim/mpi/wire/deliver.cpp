#include "wire/deliver.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "abi/datatypes.h"
#include "abi/real.h"
#include "process/process.h"
#include "wire/device.h"
#include "wire/length.h"

namespace thinwire::mpi {
namespace {

int copy_out(const Destination& destination, const Lease& dense, std::uint64_t bytes) {
  if (bytes == 0) return MPI_SUCCESS;
  if (destination.on_device) return copy_to_device(destination, dense, bytes);
  if (destination.dense) {
    std::memcpy(destination.buffer, dense.data(), bytes);
    return MPI_SUCCESS;
  }
  return unpack(dense.data(), bytes, destination.buffer, destination.count, destination.type);
}

// Decodes into `out`. What is wrong with the frame itself is logged and counted.
tw_status decode(const std::byte* wire, std::uint64_t bytes, void* out, std::uint64_t capacity) {
  Process& self = process();
  const auto start = std::chrono::steady_clock::now();
  const tw_status status = tw_message_decode(wire, bytes, out, capacity, &self.options, nullptr);
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
  return status;
}

int decode_to(const Destination& destination, const std::byte* wire, std::uint64_t bytes,
              std::uint64_t raw_bytes) {
  const bool fits = raw_bytes <= destination.capacity;
  if (fits && destination.dense) {
    const tw_status status = decode(wire, bytes, destination.buffer, raw_bytes);
    if (status != TW_DEVICE) return status == TW_OK ? MPI_SUCCESS : MPI_ERR_OTHER;
  }
  const std::uint64_t wanted = std::min(raw_bytes, destination.capacity);
  if (destination.on_device && !destination.dense) {
    const Lease dense = acquire_counted(TW_MEMORY_DEVICE, destination.device, raw_bytes);
    const tw_status status = dense ? decode(wire, bytes, dense.data(), raw_bytes) : TW_DEVICE;
    if (status == TW_OK) {
      const int error = copy_to_device(destination, dense, wanted);
      return fits ? error : MPI_ERR_TRUNCATE;
    }
    if (status != TW_DEVICE) return MPI_ERR_OTHER;
  }
  // Also for a GPU that could not: the CPU decodes the same bytes.
  const Lease dense = process().pool.acquire(raw_bytes);
  if (!dense) return MPI_ERR_NO_MEM;
  if (decode(wire, bytes, dense.data(), raw_bytes) != TW_OK) return MPI_ERR_OTHER;
  const int error = copy_out(destination, dense, wanted);
  return fits ? error : MPI_ERR_TRUNCATE;
}

// Whether the bytes are a frame of this job; then also its raw size. A frame whose header is
// damaged has its mark all the same, and is no data of the program's.
enum class Kind { kRaw, kFrame, kDamaged };
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

Kind examine(const Destination& destination, const Lease& wire, std::uint64_t bytes,
             std::uint64_t* raw_bytes) {
  *raw_bytes = bytes;
  return destination.may_be_frame ? examine(wire.data(), bytes, raw_bytes) : Kind::kRaw;
}

bool is_cancelled(const MPI_Status& status) {
  int cancelled = 0;
  real().Test_cancelled(&status, &cancelled);
  return cancelled != 0;
}

// As deliver(), without raising anything.
int place(const Destination& destination, const Lease& wire, MPI_Status& status, int error,
          tw_copy* begun) {
  if (is_cancelled(status)) return error;
  const std::uint64_t bytes = wire_bytes_of(status);
  const std::uint64_t fitting = std::min(bytes, destination.capacity);
  if (error != MPI_SUCCESS) {
    // Truncated by the MPI: raw, and what arrived is the user's.
    copy_out(destination, wire, fitting);
    return error;
  }
  std::uint64_t raw_bytes = bytes;
  if (examine(destination, wire, bytes, &raw_bytes) == Kind::kRaw) {
    const int copied = begun != nullptr ? finish_copy(begun) : copy_out(destination, wire, fitting);
    return bytes > destination.capacity ? MPI_ERR_TRUNCATE : copied;
  }
  // A damaged header takes the same path: the decoder refuses it, and that is logged and counted.
  const int outcome = decode_to(destination, wire.data(), bytes, raw_bytes);
  real().Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(raw_bytes));
  return outcome;
}

}  // namespace

std::uint64_t wire_bytes_of(const MPI_Status& status) {
  MPI_Count bytes = 0;
  real().Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
}

std::uint64_t raw_length(const void* wire, std::uint64_t bytes) {
  std::uint64_t raw_bytes = 0;
  examine(wire, bytes, &raw_bytes);
  return raw_bytes;
}

int deliver(const Destination& destination, const Lease& wire, MPI_Status& status, int error,
            tw_copy* begun) {
  const int outcome = place(destination, wire, status, error, begun);
  return outcome == error ? error : raise(destination.comm, outcome);
}

tw_copy* begin_copy(const Destination& destination, const Lease& wire, const MPI_Status& status) {
  if (!destination.on_device || !destination.dense || is_cancelled(status)) return nullptr;
  const std::uint64_t bytes = wire_bytes_of(status);
  std::uint64_t raw_bytes = 0;
  if (bytes == 0 || bytes > destination.capacity ||
      examine(destination, wire, bytes, &raw_bytes) != Kind::kRaw) {
    return nullptr;
  }
  return start_copy(destination.buffer, wire.data(), bytes);
}

void copy_status(const MPI_Status& from, MPI_Status* to) {
  if (to == MPI_STATUS_IGNORE) return;
  const int error = to->MPI_ERROR;
  *to = from;
  to->MPI_ERROR = error;
}

}  // namespace thinwire::mpi
