// Memory that a call works in: packets, scratch, spare pieces, and an input of its own if that is
// needed.
#include <algorithm>

#include "base/bytes.h"
#include "comm/communicator.h"
#include "comm/workspace.h"
#include "device/copy.h"
#include "device/place.h"

namespace thinwire::comm {
namespace {

using plan::Operation;

}  // namespace

Status Communicator::acquire(Report& report) {
  const collective::Engine engine(settings_, nullptr);
  std::uint64_t packet = 0, piece = 0;
  Shape last;
  for (const collective::Block& block : binding_.blocks()) {
    if (block.pieces == 0) continue;
    for (const std::uint32_t at : {0u, block.pieces - 1}) {
      const Shape shape = block.piece_shape(at);
      if (shape == last) continue;
      const auto most = engine.most_bytes(shape);
      if (!most.ok()) return most.status();
      packet = std::max(packet, *most);
      piece = std::max(piece, engine.bytes(shape));
      last = shape;
    }
  }
  workspace_ = {.packet_bytes = aligned(packet),
                .packet_stride = aligned(packet),
                .scratch_bytes = aligned(piece)};
  spare_bytes_ = engine.needs_spare() ? aligned(piece) : 0;
  const std::uint64_t packets = program_.packets() * workspace_.packet_bytes;
  const std::uint64_t scratch = program_.scratch_pieces() * workspace_.scratch_bytes;
  const bool on_device = device_ >= 0;
  const auto packet_memory = on_device ? packets_.pinned(packets) : packets_.on_host(packets);
  if (!packet_memory.ok()) return packet_memory.status();
  const auto scratch_memory =
      on_device ? scratch_.on_device(device_, scratch) : scratch_.on_host(scratch);
  if (!scratch_memory.ok()) return scratch_memory.status();
  const std::uint64_t spares = (1 + threads_wanted()) * spare_bytes_;
  const auto spare =
      on_device ? spare_buffer_.on_device(device_, spares) : spare_buffer_.on_host(spares);
  if (!spare.ok()) return spare.status();
  workspace_.packets = *packet_memory;
  workspace_.scratch = *scratch_memory;
  spare_ = *spare;
  report.workspace_bytes = packets + scratch + spares;
  return {};
}

// Room for one packet, to let those who send to this rank go on.
Status Communicator::acquire_for_nothing() {
  const auto memory = packets_.on_host(workspace_.packet_bytes);
  if (!memory.ok()) return broken(memory.status());
  workspace_.packets = *memory;
  workspace_.packet_stride = 0;
  return {};
}

void Communicator::end_loans() {
  for (Buffer* buffer : {&packets_, &scratch_, &spare_buffer_, &kept_, &trial_}) buffer->end_loan();
}

// Gives the call an input of its own if the result would overwrite what is still to be sent.
Status Communicator::keep_input(const Call& call, Call& own) {
  if (!call.in_place) return {};
  if (call.operation == Operation::kAlltoall) {
    own.send_counts = call.receive_counts;
    own.send_displacements = call.receive_displacements;
  } else if (call.operation != Operation::kReduceScatter) {
    return {};
  }
  own.in_place = false;
  if (call.unable) return {};
  const std::uint64_t values = regions_of(call, rank(), size()).receive;
  const std::uint64_t bytes = values * dtype_size(call.dtype);
  const auto place = device::place_of(call.receive);
  if (!place.ok()) return place.status();
  const auto memory =
      place->on_device() ? kept_.on_device(place->device, bytes) : kept_.on_host(bytes);
  if (!memory.ok()) return memory.status();
  own.send = *memory;
  return device::copy(*memory, call.receive, bytes);
}

}  // namespace thinwire::comm
