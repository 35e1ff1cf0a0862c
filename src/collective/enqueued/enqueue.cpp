#include "collective/enqueued/enqueue.h"

namespace thinwire::collective {

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

Status Enqueuer::prepare(const Row& row, const Schedule& schedule, std::span<const Block> blocks,
                         const Program& program, const EngineSettings& settings,
                         const StreamWork& work) {
  Status status = plan_.prepare(row, schedule, blocks, program, settings, work);
  if (!status.ok()) return status;
  packets_.resize(program.packets());
  phases_.build(schedule, program);
  return {};
}

std::byte* Enqueuer::values(const Run& run, const Task& task, Area area,
                            std::uint32_t value) const {
  if (area == Area::kScratch) {
    return run.memory.device + plan_.scratch_at(value);
  }
  const auto& arrays = area == Area::kInput ? run.arrays.input : run.arrays.output;
  return arrays[plan_.step(task).block] + plan_.piece_offset(task);
}

Status Enqueuer::encode(Run& run, const Task& task, const Shape& shape) {
  std::byte* const from = values(run, task, plan_.step(task).from, task.from);
  const std::uint64_t bytes = plan_.packet_bytes(task);
  Packet& packet = packets_[task.packet];
  if (!plan_.has_outcome(task)) {
    // Travels from where it lies.
    packet = {.kind = Packet::Kind::kValues, .data = from, .bytes = bytes};
    return {};
  }
  std::byte* const slot = run.memory.device + plan_.packet_at(task.packet);
  packet = {.kind = Packet::Kind::kFrame, .data = slot, .bytes = bytes};
  return run.work.encode(from, shape, {slot, bytes}, run.outcome());
}

Status Enqueuer::open_packet(Run& run, const Task& task, const Shape& shape) {
  const Packet& packet = packets_[task.packet];
  std::byte* const to = values(run, task, plan_.step(task).to, task.to);
  const bool adds = plan_.step(task).action == Action::kReduce;
  if (packet.kind == Packet::Kind::kFrame) {
    const ByteView frame(packet.data, packet.bytes);
    return adds ? run.work.reduce(frame, shape, to, run.outcome())
                : run.work.decode(frame, shape, to, run.outcome());
  }
  if (adds) return run.work.combine(to, packet.data, shape);
  return packet.data == to ? Status() : run.work.copy(to, packet.data, packet.bytes);
}

Status Enqueuer::do_local(Run& run, const Task& task) {
  const Shape piece = plan_.shape(task);
  switch (plan_.step(task).action) {
    case Action::kEncode:
      return encode(run, task, piece);
    case Action::kDecode:
    case Action::kReduce:
      return open_packet(run, task, piece);
    default:
      break;
  }
  std::byte* const to = values(run, task, plan_.step(task).to, task.to);
  const std::byte* const from = values(run, task, plan_.step(task).from, task.from);
  if (plan_.step(task).action == Action::kCombine) return run.work.combine(to, from, piece);
  return run.work.copy(to, from, plan_.raw_bytes(task));
}

Status Enqueuer::post(Run& run, const Task& task) {
  const Step& message = plan_.step(task);
  const std::uint64_t raw_bytes = plan_.raw_bytes(task);
  switch (message.action) {
    case Action::kSend: {
      const Packet& packet = packets_[task.packet];
      return run.transport.send(message.peer, {packet.data, packet.bytes}, run.stream);
    }
    case Action::kReceive: {
      Packet& packet = packets_[task.packet];
      std::byte* const slot = run.memory.device + plan_.packet_at(task.packet);
      packet.bytes = plan_.packet_bytes(task);
      packet.data = slot;
      packet.kind = plan_.is_coded(task) ? Packet::Kind::kFrame : Packet::Kind::kValues;
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
    status = post(run, plan_.tasks()[task]);
    if (!status.ok()) break;
  }
  Status ended = run.transport.end_group();
  return status.ok() ? ended : status;
}

Status Enqueuer::enqueue(const Arrays& arrays, const EnqueuedMemory& memory, StreamWork& work,
                         transport::StreamTransport& transport, device::StreamHandle stream) {
  Run run{arrays, memory, work, transport, stream};
  Status status = work.begin({memory.device + plan_.workspace_at(), plan_.workspace_bytes()},
                             memory.device + plan_.spare_at());
  const std::uint64_t outcome_bytes = plan_.outcomes() * sizeof(device::Outcome);
  if (status.ok()) status = work.clear(memory.device, outcome_bytes);
  for (std::uint32_t phase = 0; status.ok() && phase < phases_.count(); ++phase) {
    for (const std::uint32_t task : phases_.locals(phase)) {
      status = do_local(run, plan_.tasks()[task]);
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
      const Task& task = plan_.tasks()[number];
      if (!plan_.has_outcome(task)) continue;
      const device::Outcome outcome = outcomes[at++];
      if ((outcome & device::kKnown) == 0) {
        return {StatusCode::kInternal, "the stream has not come past the collective"};
      }
      const StatusCode code = device::outcome_status(outcome);
      if (code == StatusCode::kOk) continue;
      const bool encoded = plan_.step(task).action == Action::kEncode;
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
