#include "shim/mpi/message/deliver.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "shim/mpi/choose/came.h"
#include "shim/mpi/message/continuations.h"
#include "shim/mpi/message/decode.h"
#include "shim/mpi/message/device.h"
#include "shim/mpi/message/length.h"
#include "shim/mpi/native/datatypes.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {
namespace {

// Copies the first `bytes` bytes of a dense message to the user. What falls on bytes of another
// receive is written when that one ends.
int copy_out(const Destination& destination, const InPlace::Reservation& reservation, Lease dense,
             std::uint64_t bytes) {
  if (bytes == 0) return MPI_SUCCESS;
  Process& self = process();
  if (destination.direct && !reservation) {
    if (self.in_place.write(std::move(dense), bytes, destination.elements(), copy_anywhere)) {
      ++self.counters.deferred_writes;
    }
    return MPI_SUCCESS;
  }
  if (destination.on_device) return copy_to_device(destination, dense, bytes);
  if (reservation) {
    scatter(dense.data(), bytes, destination.elements());
    return MPI_SUCCESS;
  }
  if (!destination.dense && !destination.bytes.map) {
    return unpack(dense.data(), bytes, destination.buffer, destination.count, destination.type,
                  false);
  }
  if (self.in_place.write(std::move(dense), bytes, destination.elements())) {
    ++self.counters.deferred_writes;
  }
  return MPI_SUCCESS;
}

// Straight to where it belongs. Nothing, where something forbids that or the GPU does not do it.
std::optional<int> decode_at_once(const Destination& destination,
                                  const InPlace::Reservation& reservation, const std::byte* wire,
                                  std::uint64_t bytes, std::uint64_t raw_bytes) {
  // Bytes that others may have reserved are theirs to write.
  const bool may =
      destination.dense && (reservation || (destination.on_device && !destination.direct));
  if (!may || raw_bytes > destination.capacity) return std::nullopt;
  const tw_status status = decode(wire, bytes, destination.buffer, raw_bytes);
  if (status == TW_DEVICE) return std::nullopt;
  return status == TW_OK ? MPI_SUCCESS : MPI_ERR_OTHER;
}

// On the GPU, to memory without gaps first. Nothing, where it does not do it.
std::optional<int> decode_on_device(const Destination& destination, const std::byte* wire,
                                    std::uint64_t bytes, std::uint64_t raw_bytes) {
  const Lease dense = acquire_counted(TW_MEMORY_DEVICE, destination.device, raw_bytes);
  const tw_status status = dense ? decode(wire, bytes, dense.data(), raw_bytes) : TW_DEVICE;
  if (status == TW_DEVICE) return std::nullopt;
  if (status != TW_OK) return MPI_ERR_OTHER;
  const int error = copy_to_device(destination, dense, std::min(raw_bytes, destination.capacity));
  return raw_bytes > destination.capacity ? MPI_ERR_TRUNCATE : error;
}

int decode_to(const Destination& destination, const InPlace::Reservation& reservation,
              const std::byte* wire, std::uint64_t bytes, std::uint64_t raw_bytes) {
  auto done = decode_at_once(destination, reservation, wire, bytes, raw_bytes);
  if (!done && destination.on_device && !destination.dense) {
    done = decode_on_device(destination, wire, bytes, raw_bytes);
  }
  if (done) return *done;
  // Also for a GPU that could not: the CPU decodes the same bytes.
  Lease dense = process().pool.acquire(raw_bytes);
  if (!dense && reservation && !destination.on_device) {
    return decode_by_pieces(destination, wire, bytes).error;
  }
  if (!dense) return lack_memory(raw_bytes);
  if (decode(wire, bytes, dense.data(), raw_bytes) != TW_OK) return MPI_ERR_OTHER;
  const int error = copy_out(destination, reservation, std::move(dense),
                             std::min(raw_bytes, destination.capacity));
  return raw_bytes > destination.capacity ? MPI_ERR_TRUNCATE : error;
}

Kind examine_if(bool may_be_frame, const void* wire, std::uint64_t bytes,
                std::uint64_t* raw_bytes) {
  *raw_bytes = bytes;
  return may_be_frame ? examine(wire, bytes, raw_bytes) : Kind::kRaw;
}

bool is_cancelled(const MPI_Status& status) {
  int cancelled = 0;
  real().Test_cancelled(&status, &cancelled);
  return cancelled != 0;
}

void tell_raw_size(MPI_Status& status, std::uint64_t raw_bytes) {
  real().Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(raw_bytes));
}

// A copy of what arrived in the user's own bytes, in memory of the same kind; empty where there is
// none.
Lease make_room(const Destination& destination, std::uint64_t bytes) {
  if (!destination.on_device) {
    Lease wire = process().pool.acquire(bytes);
    if (wire) gather(destination.elements(), bytes, wire.data());
    return wire;
  }
  Lease wire = acquire_counted(TW_MEMORY_DEVICE, destination.device, bytes);
  if (!wire) wire = acquire_counted(TW_MEMORY_PINNED, -1, bytes);
  if (wire && copy_now(wire.data(), destination.buffer, bytes) != MPI_SUCCESS) return {};
  return wire;
}

// A message in the user's own bytes, complete: raw ones are where they belong, and one that fills
// the receive is raw, because a frame is shorter. Only a frame is moved, to make room for what it
// decodes to.
int finish_in_place(const Destination& destination, const InPlace::Reservation& reservation,
                    std::uint64_t bytes, MPI_Status& status) {
  if (bytes >= destination.capacity || !destination.may_be_frame || !is_suspicious(bytes)) {
    return MPI_SUCCESS;
  }
  std::uint64_t raw_bytes = bytes;
  if (destination.dense && examine(destination.buffer, bytes, &raw_bytes) == Kind::kRaw) {
    return MPI_SUCCESS;
  }
  const Lease wire = make_room(destination, bytes);
  if (!wire && !destination.on_device) {
    const Pieced pieced = decode_in_place_by_pieces(destination, bytes);
    if (pieced.kind == Kind::kFrame) tell_raw_size(status, pieced.raw_bytes);
    return pieced.error;
  }
  if (!wire) return lack_memory(bytes);
  if (examine(wire.data(), bytes, &raw_bytes) == Kind::kRaw) return MPI_SUCCESS;
  const int outcome = decode_to(destination, reservation, wire.data(), bytes, raw_bytes);
  tell_raw_size(status, raw_bytes);
  return outcome;
}

int copy_raw(const Destination& destination, ReceiveSpace& space, std::uint64_t bytes,
             tw_copy* begun) {
  if (begun != nullptr) return finish_copy(begun);
  if (!destination.on_device && bytes > 0) ++process().counters.copied_receives;
  return copy_out(destination, space.reservation, std::move(space.wire),
                  std::min(bytes, destination.capacity));
}

int move_from_scratch(const Destination& destination, ReceiveSpace& space, std::uint64_t bytes,
                      MPI_Status& status, tw_copy* begun) {
  space.reservation = reserve_bytes(destination);
  std::uint64_t raw_bytes = bytes;
  if (examine_if(destination.may_be_frame, space.wire.data(), bytes, &raw_bytes) == Kind::kRaw) {
    const int copied = copy_raw(destination, space, bytes, begun);
    return bytes > destination.capacity ? MPI_ERR_TRUNCATE : copied;
  }
  // A damaged header takes the same path: the decoder refuses it, and that is logged and counted.
  const int outcome =
      decode_to(destination, space.reservation, space.wire.data(), bytes, raw_bytes);
  tell_raw_size(status, raw_bytes);
  return outcome;
}

// As deliver(), which gives up what is left.
int place(const Destination& destination, ReceiveSpace& space, MPI_Status& status, int error,
          tw_copy* begun) {
  if (is_cancelled(status)) return error;
  const std::uint64_t bytes = wire_bytes_of(status);
  const bool in_place = static_cast<bool>(space.reservation);
  if (error == MPI_SUCCESS) {
    const int outcome = in_place ? finish_in_place(destination, space.reservation, bytes, status)
                                 : move_from_scratch(destination, space, bytes, status, begun);
    note_came(bytes, wire_bytes_of(status));
    return outcome;
  }
  // Truncated by the MPI: raw, and what arrived is the user's.
  if (!in_place) {
    copy_out(destination, space.reservation, std::move(space.wire),
             std::min(bytes, destination.capacity));
  }
  return error;
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

InPlace::Reservation reserve_bytes(const Destination& destination) {
  if ((destination.on_device && !destination.direct) || destination.capacity == 0) return {};
  std::optional<ByteSet> bytes;
  if (destination.dense) {
    const auto first = reinterpret_cast<std::intptr_t>(destination.buffer);
    bytes = ByteSet({first, first + static_cast<std::int64_t>(destination.capacity)});
  } else if (destination.bytes.map) {
    bytes = ByteSet::of(destination.elements(), static_cast<std::uint64_t>(destination.count));
  }
  if (!bytes) return {};
  InPlace& in_place = process().in_place;
  InPlace::Reservation reservation = in_place.reserve(*bytes);
  if (reservation || live_orphans.load(std::memory_order_relaxed) == 0) return reservation;
  complete_orphans();
  return in_place.reserve(*bytes);
}

int deliver(const Destination& destination, ReceiveSpace& space, MPI_Status& status, int error,
            tw_copy* begun) {
  const int outcome = place(destination, space, status, error, begun);
  space.reservation.end();
  space.wire = Lease();
  return outcome;
}

tw_copy* begin_copy(const Destination& destination, const Lease& wire, const MPI_Status& status) {
  if (!destination.on_device || destination.direct || !destination.dense || is_cancelled(status)) {
    return nullptr;
  }
  const std::uint64_t bytes = wire_bytes_of(status);
  std::uint64_t raw_bytes = 0;
  if (bytes == 0 || bytes > destination.capacity ||
      examine_if(destination.may_be_frame, wire.data(), bytes, &raw_bytes) != Kind::kRaw) {
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
