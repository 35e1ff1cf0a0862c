#include "collective/enqueued/run_plan.h"

#include <algorithm>

#include "base/aligned.h"
#include "device/outcome.h"
#include "message/message.h"

namespace thinwire::collective {
namespace {

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

// Whether the codec takes such pieces at all.
Status RunPlan::check_piece(const Block& block, const Shape& shape) const {
  if (settings_->spec.kind == codec::Spec::Kind::kOff || block.plain) return {};
  return message::fixed_bytes({settings_->spec.codec, settings_->spec.parameter},
                              settings_->array(shape))
      .status();
}

// 0 where the piece stays raw.
std::uint64_t RunPlan::frame_bytes(const Block& block, const Shape& shape) const {
  if (settings_->spec.kind == codec::Spec::Kind::kOff || block.plain) return 0;
  const codec::Chunk piece = settings_->array(shape);
  const auto bytes =
      message::fixed_bytes({settings_->spec.codec, settings_->spec.parameter}, piece);
  return bytes.ok() && *bytes < piece.raw_bytes() ? *bytes : 0;
}

std::uint64_t RunPlan::packet_bytes(const Task& task) const {
  const Shape piece = shape(task);
  const std::uint64_t frame = frame_bytes(block(task), piece);
  return frame > 0 ? frame : raw_bytes(piece);
}

bool RunPlan::has_outcome(const Task& task) const {
  const Action action = step(task).action;
  if (action != Action::kEncode && action != Action::kDecode && action != Action::kReduce) {
    return false;
  }
  return is_coded(task);
}

// What the largest pieces need.
Status RunPlan::measure(const StreamWork& work) {
  std::uint64_t packet = 0, piece = 0;
  WorkMemory most;
  for (const Block& block : blocks_) {
    if (block.pieces == 0) continue;
    for (const std::uint32_t at : {0u, block.pieces - 1}) {
      const Shape shape = block.piece_shape(at);
      if (Status status = check_piece(block, shape); !status.ok()) return status;
      const std::uint64_t raw = raw_bytes(shape);
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

void RunPlan::count() {
  outcomes_ = 0;
  wire_bytes_ = 0;
  for (const Task& task : program_->tasks()) {
    outcomes_ += has_outcome(task);
    if (!is_send(step(task).action)) continue;
    wire_bytes_ += step(task).action == Action::kSend ? packet_bytes(task) : raw_bytes(task);
  }
}

Status RunPlan::prepare(const Row& row, const Schedule& schedule, std::span<const Block> blocks,
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
  count();
  return measure(work);
}

}  // namespace thinwire::collective
