// One run of the executor: what it was given, and where its tasks find their memory.
#pragma once

#include "collective/polled/execute.h"

namespace thinwire::collective {

struct Executor::Run {
  const Schedule& schedule;
  std::span<const Block> blocks;
  const Program& program;
  const Arrays& arrays;
  const Means& means;
  const Status& hindrance;
  Tally& tally;
  Status first_error = {};
  std::uint32_t left = 0;  // tasks to be done

  const Step& step(const Task& task) const { return schedule.steps[task.step]; }
  Shape shape(const Task& task) const { return blocks[step(task).block].piece_shape(task.piece); }
  std::uint64_t raw_bytes(const Task& task) const { return means.engine.bytes(shape(task)); }

  MutableByteView packet_memory(const Task& task) const {
    const Workspace& memory = means.workspace;
    return {memory.packets + task.packet * memory.packet_stride, memory.packet_bytes};
  }

  // The place of a piece of values.
  std::byte* values(const Task& task, Area area, std::uint32_t value) const {
    if (area == Area::kScratch) {
      const Workspace& memory = means.workspace;
      return memory.scratch + program.scratch_piece(value) * memory.scratch_bytes;
    }
    const std::uint32_t block = step(task).block;
    std::byte* begin = (area == Area::kInput ? arrays.input : arrays.output)[block];
    return begin + means.engine.bytes_of(blocks[block].piece_offset(task.piece));
  }
  std::byte* to(const Task& task) const { return values(task, step(task).to, task.to); }
  std::byte* from(const Task& task) const { return values(task, step(task).from, task.from); }
};

}  // namespace thinwire::collective
