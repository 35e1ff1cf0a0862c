#include "shim/mpi/entry/receive_space.h"

#include <string>

#include "shim/mpi/message/deliver.h"
#include "shim/mpi/message/device.h"
#include "shim/mpi/state/state.h"

namespace thinwire::mpi {

int find_destination(const Incoming& message, std::uint64_t capacity, Destination& destination) {
  destination.buffer = message.buffer;
  destination.count = message.count;
  destination.type = message.type;
  destination.capacity = capacity;
  destination.comm = message.comm;
  destination.dense = type_facts(message.type).dense;
  if (!message.on_device) {
    if (capacity > 0 && !is_usable(message.type)) return MPI_ERR_TYPE;
    if (!destination.dense) destination.bytes = byte_form_of(message.type);
    return MPI_SUCCESS;
  }
  destination.on_device = true;
  destination.direct = destination.dense && mpi_reaches_gpus();
  destination.may_be_frame = may_meet_frame(message, capacity);
  if (capacity == 0) return MPI_SUCCESS;
  int error = find_device(message.buffer, message.type, &destination.device);
  if (error == MPI_SUCCESS && !destination.dense) {
    destination.layout = layout_of(message.type);
    destination.first = const_cast<void*>(first_byte(message.buffer, message.type));
    if (!destination.layout) error = MPI_ERR_TYPE;
  }
  return error;
}

namespace {

std::uint64_t scratch_bytes(const Destination& destination) {
  return destination.capacity + (keeps_one_apart(destination) ? 2 : 0);
}

}  // namespace

int find_receive_space(const Destination& destination, ReceiveSpace& space) {
  Process& self = process();
  if (destination.direct) space.reservation = reserve_bytes(destination);
  if (destination.on_device && !space.reservation) {
    space.wire = acquire_counted(TW_MEMORY_PINNED, -1, scratch_bytes(destination));
    if (space.wire) return MPI_SUCCESS;
    tw_log(TW_LOG_ERROR,
           (std::string("no pinned memory for a receive: ") + tw_last_error()).c_str());
    return MPI_ERR_NO_MEM;
  }
  if (!destination.on_device && (destination.dense || destination.bytes.type)) {
    space.reservation = reserve_bytes(destination);
  }
  if (space.reservation) {
    ++self.counters.receives_in_place;
    return MPI_SUCCESS;
  }
  ++self.counters.receives_through_scratch;
  space.wire = self.pool.acquire(scratch_bytes(destination));
  return space.wire ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

}  // namespace thinwire::mpi
