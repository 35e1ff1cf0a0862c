#include "collective/program.h"

#include <algorithm>

namespace thinwire::collective {
namespace {

bool uses_packet(Action action) {
  return action == Action::kEncode || action == Action::kDecode || action == Action::kReduce ||
         action == Action::kSend || action == Action::kReceive;
}

bool uses_from(Action action) {
  return action == Action::kCopy || action == Action::kCombine || action == Action::kEncode ||
         action == Action::kSendValues;
}

bool uses_to(Action action) {
  return action == Action::kCopy || action == Action::kCombine || action == Action::kDecode ||
         action == Action::kReduce || action == Action::kReceiveValues ||
         action == Action::kAddExactly;
}

}  // namespace

void Program::number(const Schedule& schedule, std::span<const Block> blocks, bool in_place,
                     std::uint32_t window) {
  window_ = window;
  packets_ = schedule.slots * window;
  scratch_pieces_ = schedule.scratch * window;
  values_ = scratch_pieces_;
  first_input_.resize(blocks.size());
  first_output_.resize(blocks.size());
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    first_output_[block] = values_;
    values_ += blocks[block].pieces;
    first_input_[block] = in_place ? first_output_[block] : values_;
    if (!in_place) values_ += blocks[block].pieces;
  }
  resources_.assign(packets_ + values_, {});
  source_of_packet_.assign(packets_, kNone);
}

std::uint32_t Program::value_of(const Step& step, Area area, std::uint32_t piece,
                                std::uint32_t window) const {
  if (area == Area::kScratch) return step.scratch * window + piece % window;
  return (area == Area::kInput ? first_input_ : first_output_)[step.block] + piece;
}

void Program::reads(std::uint32_t task, std::uint32_t resource) {
  Resource& used = resources_[resource];
  if (used.writer != kNone && used.writer != task) found_.push_back({used.writer, task});
  readers_.push_back({task, used.readers});
  used.readers = static_cast<std::uint32_t>(readers_.size() - 1);
}

void Program::writes(std::uint32_t task, std::uint32_t resource) {
  Resource& used = resources_[resource];
  if (used.writer != kNone && used.writer != task) found_.push_back({used.writer, task});
  for (std::uint32_t at = used.readers; at != kNone; at = readers_[at].next) {
    if (readers_[at].task != task) found_.push_back({readers_[at].task, task});
  }
  used = {.writer = task};
}

void Program::add(const Step& step, Task task) {
  const auto number = static_cast<std::uint32_t>(tasks_.size());
  tasks_.push_back(task);
  const Action action = step.action;
  if (task.from != kNone) reads(number, packets_ + task.from);
  if (task.packet != kNone && action != Action::kEncode && action != Action::kReceive) {
    reads(number, task.packet);
    // A packet that stayed raw is not there: it is read where its values lie.
    const std::uint32_t source = source_of_packet_[task.packet];
    if (source != kNone) reads(number, packets_ + source);
  }
  if (action == Action::kAddExactly) {
    for (auto at = task.to; at < scratch_pieces_; at += window_) reads(number, packets_ + at);
  }
  if (task.to != kNone) writes(number, packets_ + task.to);
  if (action == Action::kEncode || action == Action::kReceive) {
    writes(number, task.packet);
    source_of_packet_[task.packet] = task.from;
  }
}

void Program::add_tasks(const Schedule& schedule, std::span<const Block> blocks,
                        std::uint32_t window) {
  std::uint32_t most = 0;
  for (const Block& block : blocks) most = std::max(most, block.pieces);
  for (std::uint32_t first = 0; first < most; first += window) {
    for (std::uint32_t at = 0; at < schedule.steps.size(); ++at) {
      const Step& step = schedule.steps[at];
      const std::uint32_t end = std::min(first + window, blocks[step.block].pieces);
      for (std::uint32_t piece = first; piece < end; ++piece) {
        Task task{.step = at, .piece = piece};
        if (uses_packet(step.action)) task.packet = step.slot * window + piece % window;
        if (uses_from(step.action)) task.from = value_of(step, step.from, piece, window);
        if (uses_to(step.action)) task.to = value_of(step, step.to, piece, window);
        if (step.action == Action::kCopy && task.to == task.from) continue;
        add(step, task);
      }
    }
  }
}

void Program::link() {
  for (const Edge& edge : found_) {
    ++tasks_[edge.before].first_follower;
    ++tasks_[edge.after].waits_for;
  }
  std::uint32_t end = 0;
  for (Task& task : tasks_) end = task.first_follower += end;
  edges_.resize(end);
  // Filled from after, so that each `first_follower` ends where its followers begin.
  for (const Edge& edge : found_) edges_[--tasks_[edge.before].first_follower] = edge.after;
}

void Program::build(const Schedule& schedule, std::span<const Block> blocks, bool in_place,
                    std::uint32_t window) {
  tasks_.clear();
  readers_.clear();
  found_.clear();
  number(schedule, blocks, in_place, window);
  add_tasks(schedule, blocks, window);
  link();
}

}  // namespace thinwire::collective
