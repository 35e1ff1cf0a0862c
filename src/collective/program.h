// A schedule over the pieces of its blocks: tasks, and which of them wait for which.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collective/cutting.h"
#include "collective/schedule.h"

namespace thinwire::collective {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

// A step for one piece of its block. What it touches is numbered: packets are places for packets in
// slots, `to` and `from` are pieces of values, of scratch too.
struct Task {
  std::uint32_t step;
  std::uint32_t piece;
  std::uint32_t packet = kNone;
  std::uint32_t to = kNone;
  std::uint32_t from = kNone;
  std::uint32_t waits_for = 0;       // how many tasks
  std::uint32_t first_follower = 0;  // in followers()
};

// Pieces are worked on in windows: all steps for the first `window` pieces of each block, then all
// for the next ones, so that slots and scratch hold a window of pieces whatever the array's size.
// Tasks are in that order; it is the same on both sides of every message.
class Program {
 public:
  // `in_place`: input and output of a block are the same memory. Reuses what an earlier build()
  // allocated.
  void build(const Schedule& schedule, std::span<const Block> blocks, bool in_place,
             std::uint32_t window);

  std::span<const Task> tasks() const { return tasks_; }
  std::span<const std::uint32_t> followers(std::uint32_t task) const {
    const std::uint32_t end = task + 1 < tasks_.size() ? tasks_[task + 1].first_follower
                                                       : static_cast<std::uint32_t>(edges_.size());
    return std::span(edges_).subspan(tasks_[task].first_follower,
                                     end - tasks_[task].first_follower);
  }

  std::uint32_t packets() const { return packets_; }
  std::uint32_t values() const { return values_; }  // pieces of values, scratch included

  // The pieces of scratch that a step which adds them all reads: this one, and each `window` after.
  std::uint32_t window() const { return window_; }

  // Which piece of scratch this is; kNone if `value` is the user's.
  std::uint32_t scratch_piece(std::uint32_t value) const {
    return value < scratch_pieces_ ? value : kNone;
  }
  std::uint32_t scratch_pieces() const { return scratch_pieces_; }

 private:
  struct Resource {
    std::uint32_t writer = kNone;
    std::uint32_t readers = kNone;  // the head of a list in readers_
  };
  struct Reader {
    std::uint32_t task, next;
  };
  struct Edge {
    std::uint32_t before, after;
  };

  void number(const Schedule& schedule, std::span<const Block> blocks, bool in_place,
              std::uint32_t window);
  void add_tasks(const Schedule& schedule, std::span<const Block> blocks, std::uint32_t window);
  std::uint32_t value_of(const Step& step, Area area, std::uint32_t piece,
                         std::uint32_t window) const;
  void add(const Step& step, Task task);
  void reads(std::uint32_t task, std::uint32_t resource);
  void writes(std::uint32_t task, std::uint32_t resource);
  void link();

  std::uint32_t packets_ = 0, values_ = 0, scratch_pieces_ = 0, window_ = 1;
  std::vector<Task> tasks_;
  std::vector<std::uint32_t> edges_;
  std::vector<std::uint32_t> first_input_, first_output_;  // value numbers, by block
  // While building: packets first, then values.
  std::vector<Resource> resources_;
  std::vector<std::uint32_t> source_of_packet_;
  std::vector<Reader> readers_;
  std::vector<Edge> found_;
};

}  // namespace thinwire::collective
