#include "collective/enqueued/enqueue.h"

#include <algorithm>

#include "message/message.h"

namespace thinwire::collective {
namespace {

constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 255) & ~std::uint64_t{255}; }

Status unsupported(std::string why) { return {StatusCode::kUnsupported, std::move(why)}; }

// Whether all ranks know the sizes of all messages beforehand.
Status check_sizes_are_known(const Schedule& schedule, const codec::Spec& spec) {
  using Kind = codec::Spec::Kind;
  if (spec.kind == Kind::kAuto || (spec.kind == Kind::kCodec && !spec.codec->fixed_size)) {
    return unsupported(spec.text() +
                       ": the length of its frames depends on the data, and enqueued collectives "
                       "need codecs of fixed size");
  }
  for (const Step& step : schedule.steps) {
    if (step.plain) return unsupported("staged schedules are not enqueued");
  }
  return {};
}

}  // namespace

struct Enqueuer::Run {
  const Arrays& arrays;
  const EnqueuedMemory& memory;
  StreamWork& work;
  transport::StreamTransport& transport;
  device::StreamHandle stream;
  std::uint32_t next_outcome = 0;

  device::Outcome* outcome() {
    return reinterpret_cast<device::Outcome*>(memory.device) + next_outcome++;
  }
};

// ---- Planning ----

// Whether the codec takes such pieces at all.
Status Enqueuer::check_piece(const Block& block, const Shape& shape) const {
  if (settings_->spec.kind == codec::Spec::Kind::kOff || block.plain) return {};
  return message::fixed_bytes({settings_->spec.codec, settings_->spec.parameter},
                              {.dtype = settings_->dtype, .shape = shape})
      .status();
}

// 0 where the piece stays raw.
std::uint64_t Enqueuer::frame_bytes(const Block& block, const Shape& shape) const {
  if (settings_->spec.kind == codec::Spec::Kind::kOff || block.plain) return 0;
  const codec::Chunk piece{.dtype = settings_->dtype, .shape = shape};
  const auto bytes =
      message::fixed_bytes({settings_->spec.codec, settings_->spec.parameter}, piece);
  return bytes.ok() && *bytes < piece.raw_bytes() ? *bytes : 0;
}

std::uint64_t Enqueuer::packet_bytes(const Task& task) const {
  const Shape piece = shape(task);
  const std::uint64_t frame = frame_bytes(blocks_[step(task).block], piece);
  return frame > 0 ? frame : piece.count() * dtype_size(settings_->dtype);
}

bool Enqueuer::has_outcome(const Task& task) const {
  const Action action = step(task).action;
  if (action != Action::kEncode && action != Action::kDecode && action != Action::kReduce) {
    return false;
  }
  return frame_bytes(blocks_[step(task).block], shape(task)) > 0;
}

// What the largest pieces need.
Status Enqueuer::measure(const StreamWork& work) {
  std::uint64_t packet = 0, piece = 0;
  WorkMemory most;
  for (const Block& block : blocks_) {
    if (block.pieces == 0) continue;
    for (const std::uint32_t at : {0u, block.pieces - 1}) {
      const Shape shape = block.piece_shape(at);
      if (Status status = check_piece(block, shape); !status.ok()) return status;
      const std::uint64_t raw = shape.count() * dtype_size(settings_->dtype);
      const std::uint64_t frame = frame_bytes(block, shape);
      packet = std::max(packet, frame > 0 ? frame : raw);
      piece = std::max(piece, raw);
      if (frame == 0) continue;
      const auto needed = work.memory_for(shape);
      if (!needed.ok()) return needed.status();
      most.workspace_bytes = std::max(most.workspace_bytes, needed->workspace_bytes);
      most.spare_bytes = std::max(most.spare_bytes, needed->spare_bytes);
    }
  }
  packet_stride_ = aligned(packet);
  scratch_stride_ = aligned(piece);
  places_.packets = aligned(outcomes_ * sizeof(device::Outcome));
  places_.scratch = places_.packets + program_->packets() * packet_stride_;
  places_.workspace = places_.scratch + program_->scratch_pieces() * scratch_stride_;
  places_.spare = places_.workspace + aligned(most.workspace_bytes);
  places_.end = places_.spare + aligned(most.spare_bytes);
  return {};
}

void Enqueuer::count() {
  outcomes_ = 0;
  wire_bytes_ = 0;
  for (const Task& task : program_->tasks()) {
    outcomes_ += has_outcome(task);
    if (!is_send(step(task).action)) continue;
    wire_bytes_ += step(task).action == Action::kSend
                       ? packet_bytes(task)
                       : shape(task).count() * dtype_size(settings_->dtype);
  }
}

Status Enqueuer::prepare(const Row& row, const Schedule& schedule, std::span<const Block> blocks,
                         const Program& program, const EngineSettings& settings,
                         const StreamWork& work) {
  if (!can_be_enqueued(row)) {
    return unsupported(std::string(operation_name(row.operation)) + " by " +
                       algorithm_name(row.algorithm) + ", " + coding_name(row.coding) +
                       ": its messages cannot be grouped for a transport that only enqueues");
  }
  if (Status status = check_sizes_are_known(schedule, settings.spec); !status.ok()) return status;
  schedule_ = &schedule;
  blocks_ = blocks;
  program_ = &program;
  settings_ = &settings;
  packets_.resize(program.packets());
  phases_.build(schedule, program);
  count();
  return measure(work);
}

// ---- Enqueuing ----

std::byte* Enqueuer::values(const Run& run, const Task& task, Area area,
                            std::uint32_t value) const {
  if (area == Area::kScratch) {
    return run.memory.device + places_.scratch + program_->scratch_piece(value) * scratch_stride_;
  }
  const std::uint32_t block = step(task).block;
  std::byte* const begin = (area == Area::kInput ? run.arrays.input : run.arrays.output)[block];
  return begin + blocks_[block].piece_offset(task.piece) * dtype_size(settings_->dtype);
}

Status Enqueuer::encode(Run& run, const Task& task, const Shape& shape) {
  std::byte* const from = values(run, task, step(task).from, task.from);
  const std::uint64_t bytes = packet_bytes(task);
  Packet& packet = packets_[task.packet];
  if (!has_outcome(task)) {
    // Travels from where it lies.
    packet = {.kind = Packet::Kind::kValues, .data = from, .bytes = bytes};
    return {};
  }
  std::byte* const slot = run.memory.device + places_.packets + task.packet * packet_stride_;
  packet = {.kind = Packet::Kind::kFrame, .data = slot, .bytes = bytes};
  return run.work.encode(from, shape, {slot, bytes}, run.outcome());
}

Status Enqueuer::open_packet(Run& run, const Task& task, const Shape& shape) {
  const Packet& packet = packets_[task.packet];
  std::byte* const to = values(run, task, step(task).to, task.to);
  const bool adds = step(task).action == Action::kReduce;
  if (packet.kind == Packet::Kind::kFrame) {
    const ByteView frame(packet.data, packet.bytes);
    return adds ? run.work.reduce(frame, shape, to, run.outcome())
                : run.work.decode(frame, shape, to, run.outcome());
  }
  if (adds) return run.work.combine(to, packet.data, shape);
  return packet.data == to ? Status() : run.work.copy(to, packet.data, packet.bytes);
}

Status Enqueuer::do_local(Run& run, const Task& task) {
  const Shape piece = shape(task);
  switch (step(task).action) {
    case Action::kEncode:
      return encode(run, task, piece);
    case Action::kDecode:
    case Action::kReduce:
      return open_packet(run, task, piece);
    default:
      break;
  }
  std::byte* const to = values(run, task, step(task).to, task.to);
  const std::byte* const from = values(run, task, step(task).from, task.from);
  if (step(task).action == Action::kCombine) return run.work.combine(to, from, piece);
  return run.work.copy(to, from, piece.count() * dtype_size(settings_->dtype));
}

Status Enqueuer::post(Run& run, const Task& task) {
  const Step& message = step(task);
  const std::uint64_t raw_bytes = shape(task).count() * dtype_size(settings_->dtype);
  switch (message.action) {
    case Action::kSend: {
      const Packet& packet = packets_[task.packet];
      return run.transport.send(message.peer, {packet.data, packet.bytes}, run.stream);
    }
    case Action::kReceive: {
      Packet& packet = packets_[task.packet];
      std::byte* const slot = run.memory.device + places_.packets + task.packet * packet_stride_;
      packet.bytes = packet_bytes(task);
      packet.data = slot;
      packet.kind = frame_bytes(blocks_[message.block], shape(task)) > 0 ? Packet::Kind::kFrame
                                                                         : Packet::Kind::kValues;
      return run.transport.receive(message.peer, {slot, packet.bytes}, run.stream);
    }
    case Action::kSendValues:
      return run.transport.send(
          message.peer, {values(run, task, message.from, task.from), raw_bytes}, run.stream);
    default:
      return run.transport.receive(message.peer,
                                   {values(run, task, message.to, task.to), raw_bytes}, run.stream);
  }
}

Status Enqueuer::post_group(Run& run, std::uint32_t phase) {
  const auto messages = phases_.messages(phase);
  if (messages.empty()) return {};
  Status status = run.transport.begin_group();
  if (!status.ok()) return status;
  for (const std::uint32_t task : messages) {
    status = post(run, program_->tasks()[task]);
    if (!status.ok()) break;
  }
  Status ended = run.transport.end_group();
  return status.ok() ? ended : status;
}

Status Enqueuer::enqueue(const Arrays& arrays, const EnqueuedMemory& memory, StreamWork& work,
                         transport::StreamTransport& transport, device::StreamHandle stream) {
  Run run{arrays, memory, work, transport, stream};
  Status status = work.begin({memory.device + places_.workspace, places_.spare - places_.workspace},
                             memory.device + places_.spare);
  const std::uint64_t outcome_bytes = outcomes_ * sizeof(device::Outcome);
  if (status.ok()) status = work.clear(memory.device, outcome_bytes);
  for (std::uint32_t phase = 0; status.ok() && phase < phases_.count(); ++phase) {
    for (const std::uint32_t task : phases_.locals(phase)) {
      status = do_local(run, program_->tasks()[task]);
      if (!status.ok()) return status;
    }
    status = post_group(run, phase);
  }
  if (!status.ok()) return status;
  return work.copy(reinterpret_cast<std::byte*>(memory.outcomes), memory.device, outcome_bytes);
}

Status Enqueuer::check(const device::Outcome* outcomes) const {
  Status first;
  std::uint32_t at = 0;
  for (std::uint32_t phase = 0; phase < phases_.count(); ++phase) {
    for (const std::uint32_t number : phases_.locals(phase)) {
      const Task& task = program_->tasks()[number];
      if (!has_outcome(task)) continue;
      const device::Outcome outcome = outcomes[at++];
      if ((outcome & device::kKnown) == 0) {
        return {StatusCode::kInternal, "the stream has not come past the collective"};
      }
      const StatusCode code = device::outcome_status(outcome);
      if (code == StatusCode::kOk) continue;
      const bool encoded = step(task).action == Action::kEncode;
      // Its own data come first: others' only seem to be damaged where there are none.
      if (encoded) return {code, "the codec did not take this rank's data; they are NaN now"};
      if (first.ok()) {
        first = {StatusCode::kDamaged, "another rank could not send its data; they are NaN now"};
      }
    }
  }
  return first;
}

}  // namespace thinwire::collective
