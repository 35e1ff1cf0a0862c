#include "simulate/graph.h"

#include <algorithm>

#include "collective/algorithms.h"
#include "collective/cutting.h"
#include "comm/binding.h"

namespace thinwire::simulate {
namespace {

using collective::Action;
using collective::Block;
using collective::Schedule;

class Builder {
 public:
  Builder(const Call& call, const Fold& fold) : call_(call), fold_(fold) {
    topology_.size = call.ranks();
    topology_.node_of = nodes_of<std::int32_t>(call);
  }

  Status build(double& excess) {
    const collective::Row* const row =
        collective::find_algorithm(call_.operation, call_.algorithm, call_.coding);
    if (row == nullptr) return {StatusCode::kUnsupported, "there is no such schedule"};
    if (Status status = count(*row, excess); !status.ok()) return status;
    for (int actor = 0; actor < fold_.actors(); ++actor) {
      topology_.rank = actor;
      const Schedule schedule = row->make(topology_);
      program_.build(schedule, blocks_, false, call_.window);
      const std::uint64_t tasks = graph.items.size() + program_.tasks().size();
      if (tasks > call_.most_tasks) {
        return too_many(static_cast<double>(tasks), actor + 1, excess);
      }
      take(schedule, static_cast<std::uint32_t>(actor));
    }
    graph.first_queue.push_back(static_cast<std::uint32_t>(graph.queues.size()));
    return meet();
  }

  Graph graph;

 private:
  void cut(std::uint32_t parts);
  Status too_many(double tasks, int actors, double& excess) const;
  Status count(const collective::Row& row, double& excess);
  void take(const Schedule& schedule, std::uint32_t actor);
  void take_queues(std::uint32_t actor, std::uint32_t first_item);
  Status meet();
  const Queue* find(int actor, int peer, bool sends) const;

  const Call& call_;
  const Fold& fold_;
  collective::Topology topology_;
  collective::Program program_;
  std::vector<Block> blocks_;
  std::vector<std::int32_t> peers_;  // of this actor's messages, by item
};

// If one node stands for all, blocks that differ by a box must not: their mean stands for each.
void Builder::cut(std::uint32_t parts) {
  comm::Call bound;
  bound.operation = call_.operation;
  bound.dtype = call_.dtype;
  bound.count = call_.count;
  bound.spec = call_.spec;
  const collective::Cutter cutter(bound.spec, call_.dtype, call_.piece_bytes);
  comm::Binding binding;
  binding.bind(bound, cutter, 0, call_.ranks(), parts, nullptr);
  blocks_.assign(binding.blocks().begin(), binding.blocks().end());
  const bool differ = blocks_.front().values() != blocks_.back().values();
  if (fold_.actors() < call_.ranks() && differ) {
    std::uint64_t values = 0;
    for (const Block& block : blocks_) values += block.values();
    const std::uint64_t mean = std::max<std::uint64_t>(ceil_div(values, blocks_.size()), 1);
    const std::uint64_t bytes = mean * dtype_size(call_.dtype);
    Block even;
    even.shape = Shape::line(mean);
    even.rows_per_piece = ceil_div(mean, ceil_div(bytes, call_.piece_bytes));
    even.pieces = static_cast<std::uint32_t>(ceil_div(mean, even.rows_per_piece));
    blocks_.assign(blocks_.size(), even);
  }
  for (const Block& block : blocks_) {
    if (block.pieces == 0) continue;
    const auto piece = static_cast<double>(block.piece_shape(0).count() * dtype_size(call_.dtype));
    graph.piece = std::max(graph.piece, piece);
  }
}

Status Builder::too_many(double tasks, int actors, double& excess) const {
  excess = tasks / actors * fold_.actors() / static_cast<double>(call_.most_tasks);
  return {StatusCode::kTooSmall, "too many tasks"};
}

// Before the first is made: there may be more than memory has room for, and more pieces than a
// block can have. Copies from a place to itself are counted, and become none.
Status Builder::count(const collective::Row& row, double& excess) {
  double tasks = 0;
  for (int actor = 0; actor < fold_.actors(); ++actor) {
    topology_.rank = actor;
    const Schedule schedule = row.make(topology_);
    if (actor == 0) cut(schedule.blocks);
    for (const collective::Step& step : schedule.steps) {
      const Block& block = blocks_[step.block];
      tasks += static_cast<double>(ceil_div(block.rows(), block.rows_per_piece));
    }
    if (tasks > 2 * static_cast<double>(call_.most_tasks)) {
      return too_many(tasks, actor + 1, excess);
    }
  }
  return {};
}

void Builder::take(const Schedule& schedule, std::uint32_t actor) {
  const auto first = static_cast<std::uint32_t>(graph.items.size());
  const auto width = static_cast<double>(dtype_size(call_.dtype));
  const int node = fold_.node_of(static_cast<int>(actor));
  peers_.clear();
  const auto tasks = program_.tasks();
  for (std::uint32_t at = 0; at < tasks.size(); ++at) {
    const collective::Step& step = schedule.steps[tasks[at].step];
    Item item{.action = step.action, .actor = actor, .waits_for = tasks[at].waits_for};
    item.first_follower = static_cast<std::uint32_t>(graph.followers.size());
    const auto values = blocks_[step.block].piece_shape(tasks[at].piece).count();
    item.bytes = static_cast<double>(values) * width;
    item.inside = collective::is_message(step.action) && fold_.node_of(step.peer) == node;
    for (const std::uint32_t follower : program_.followers(at)) {
      graph.followers.push_back(first + follower);
    }
    peers_.push_back(collective::is_message(step.action) ? step.peer : -1);
    graph.items.push_back(item);
  }
  graph.packets = std::max<std::uint64_t>(graph.packets, program_.packets());
  graph.scratch_pieces = std::max<std::uint64_t>(graph.scratch_pieces, program_.scratch_pieces());
  take_queues(actor, first);
}

void Builder::take_queues(std::uint32_t actor, std::uint32_t first_item) {
  graph.first_queue.push_back(static_cast<std::uint32_t>(graph.queues.size()));
  const auto begin = static_cast<std::ptrdiff_t>(graph.queued.size());
  for (std::uint32_t at = 0; at < peers_.size(); ++at) {
    if (peers_[at] >= 0) graph.queued.push_back(first_item + at);
  }
  const auto key = [&](std::uint32_t item) {
    return std::pair(peers_[item - first_item], is_send(graph.items[item].action));
  };
  std::ranges::stable_sort(graph.queued.begin() + begin, graph.queued.end(), {}, key);
  for (auto at = static_cast<std::uint32_t>(begin); at < graph.queued.size(); ++at) {
    const auto [peer, sends] = key(graph.queued[at]);
    const bool is_first = graph.queues.size() == graph.first_queue[actor];
    if (is_first || graph.queues.back().peer != peer || graph.queues.back().sends != sends) {
      graph.queues.push_back({peer, sends, at, at});
    }
    graph.queues.back().end = at + 1;
    graph.items[graph.queued[at]].queue = static_cast<std::uint32_t>(graph.queues.size() - 1);
  }
}

const Queue* Builder::find(int actor, int peer, bool sends) const {
  const auto at = static_cast<std::size_t>(actor);
  const auto begin = graph.queues.begin() + graph.first_queue[at];
  const auto end = graph.queues.begin() + graph.first_queue[at + 1];
  const auto key = [](const Queue& queue) { return std::pair(queue.peer, queue.sends); };
  const auto found = std::ranges::lower_bound(begin, end, std::pair(peer, sends), {}, key);
  return found != end && key(*found) == std::pair(peer, sends) ? &*found : nullptr;
}

// Each send meets the receive that stands as late in its queue.
Status Builder::meet() {
  std::size_t met = 0;
  for (int actor = 0; actor < fold_.actors(); ++actor) {
    const auto at = static_cast<std::size_t>(actor);
    for (auto of = graph.first_queue[at]; of < graph.first_queue[at + 1]; ++of) {
      const Queue& out = graph.queues[of];
      if (!out.sends) continue;
      const Queue* const in = find(fold_.actor(out.peer), fold_.seen_from(out.peer, actor), false);
      if (in == nullptr || in->end - in->first != out.end - out.first) {
        return {StatusCode::kInternal, "simulated ranks do not meet"};
      }
      for (std::uint32_t next = 0; next < out.end - out.first; ++next) {
        const std::uint32_t send = graph.queued[out.first + next];
        const std::uint32_t receive = graph.queued[in->first + next];
        graph.items[send].mate = receive;
        graph.items[receive].mate = send;
      }
      met += 2 * (out.end - out.first);
    }
  }
  if (met == graph.queued.size()) return {};
  return {StatusCode::kInternal, "simulated ranks wait for messages that nobody sends"};
}

}  // namespace

std::uint64_t longest_part(const Call& call) {
  const collective::Cutter cutter(call.spec, call.dtype, call.piece_bytes);
  return cutter.part(call.count, 0, static_cast<std::uint32_t>(call.ranks())).values();
}

Result<Graph> make_graph(const Call& call, const Fold& fold, double& excess) {
  Builder builder(call, fold);
  excess = 1;
  if (Status status = builder.build(excess); !status.ok()) return status;
  return std::move(builder.graph);
}

}  // namespace thinwire::simulate
