// What is known of a run before it is enqueued: how long everything is that travels, and where it
// lies in the memory that is lent.
#pragma once

#include <cstdint>
#include <span>

#include "collective/algorithms.h"
#include "collective/engine.h"
#include "collective/enqueued/stream_work.h"
#include "collective/program.h"

namespace thinwire::collective {

class RunPlan {
 public:
  // As Enqueuer::prepare().
  Status prepare(const Row& row, const Schedule& schedule, std::span<const Block> blocks,
                 const Program& program, const EngineSettings& settings, const StreamWork& work);

  std::uint64_t device_bytes() const { return places_.end; }
  std::uint32_t outcomes() const { return outcomes_; }
  std::uint64_t wire_bytes() const { return wire_bytes_; }
  std::span<const Task> tasks() const { return program_->tasks(); }

  // Of a task: its step, its piece's shape and bytes, and those bytes as they travel, fewer where
  // the piece is coded.
  const Step& step(const Task& task) const { return schedule_->steps[task.step]; }
  Shape shape(const Task& task) const { return block(task).piece_shape(task.piece); }
  std::uint64_t raw_bytes(const Task& task) const { return raw_bytes(shape(task)); }
  std::uint64_t packet_bytes(const Task& task) const;
  bool is_coded(const Task& task) const { return frame_bytes(block(task), shape(task)) > 0; }

  // Where its piece begins in the array of its block, in bytes.
  std::uint64_t piece_offset(const Task& task) const {
    return block(task).piece_offset(task.piece) * dtype_size(settings_->dtype);
  }

  // Whether what it enqueues has an outcome. Outcomes lie at the start of the lent memory, in the
  // order of such tasks.
  bool has_outcome(const Task& task) const;

  // Where in the lent memory a packet begins, the values of a piece of scratch, and the codec's own
  // memory.
  std::uint64_t packet_at(std::uint32_t packet) const {
    return places_.packets + packet * packet_stride_;
  }
  std::uint64_t scratch_at(std::uint32_t value) const {
    return places_.scratch + program_->scratch_piece(value) * scratch_stride_;
  }
  std::uint64_t workspace_at() const { return places_.workspace; }
  std::uint64_t workspace_bytes() const { return places_.spare - places_.workspace; }
  std::uint64_t spare_at() const { return places_.spare; }

 private:
  // Where the parts of the lent memory begin.
  struct Places {
    std::uint64_t packets = 0, scratch = 0, workspace = 0, spare = 0, end = 0;
  };

  const Block& block(const Task& task) const { return blocks_[step(task).block]; }
  std::uint64_t raw_bytes(const Shape& shape) const {
    return shape.count() * dtype_size(settings_->dtype);
  }
  Status check_piece(const Block& block, const Shape& shape) const;
  std::uint64_t frame_bytes(const Block& block, const Shape& shape) const;
  Status measure(const StreamWork& work);
  void count();

  const Schedule* schedule_ = nullptr;
  std::span<const Block> blocks_;
  const Program* program_ = nullptr;
  const EngineSettings* settings_ = nullptr;
  Places places_;
  std::uint64_t packet_stride_ = 0, scratch_stride_ = 0;
  std::uint32_t outcomes_ = 0;
  std::uint64_t wire_bytes_ = 0;
};

}  // namespace thinwire::collective
