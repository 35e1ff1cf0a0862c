#include "simulate/engine.h"

#include "simulate/network.h"

namespace thinwire::simulate {
namespace {

using collective::Action;

// A simulated rank: its tasks that wait for nothing but a thread, and how many threads work.
struct Actor {
  std::vector<std::uint32_t> ready;  // a heap with the task on top that the program has first
  std::uint32_t working = 0;
};

// One simulation. A task runs after those that it waits for: coding and copies on a thread of their
// actor, messages on the network, after those before them in their queue and when both ends are
// posted. Each end is an event, which releases others.
class Run {
 public:
  Run(const Graph& graph, const Machine& machine, const Call& call, const Fold& fold)
      : graph_(graph),
        machine_(machine),
        coded_(call.coded()),
        network_(graph, machine, call, fold, events_),
        actors_(static_cast<std::size_t>(fold.actors())),
        posted_(graph.items.size()) {}

  // The time at which the last task ends.
  Result<double> finish() {
    for (const Item& item : graph_.items) waits_for_.push_back(item.waits_for);
    for (const Queue& queue : graph_.queues) next_.push_back(queue.first);
    // Last queue first, as the executor looks at them.
    for (auto queue = static_cast<std::uint32_t>(next_.size()); queue-- > 0;) advance(queue, 0);
    for (std::uint32_t at = 0; at < graph_.items.size(); ++at) {
      const bool is_message = collective::is_message(graph_.items[at].action);
      if (waits_for_[at] == 0 && !is_message) be_ready(at, 0);
    }
    for (std::uint32_t at = 0; at < actors_.size(); ++at) start(at, 0);
    std::size_t done = 0;
    double now = 0;
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind != Event::Kind::kDone) {
        network_.go_on(event);
        continue;
      }
      now = event.at;
      complete(event.item, now);
      ++done;
    }
    if (done == graph_.items.size()) return now;
    return Status(StatusCode::kInternal, "simulated tasks wait for each other");
  }

 private:
  // Takes in a task that waits for no other any more.
  void be_ready(std::uint32_t item, double now) {
    const Item& task = graph_.items[item];
    if (collective::is_message(task.action)) return advance(task.queue, now);
    auto& ready = actors_[task.actor].ready;
    ready.push_back(item);
    std::ranges::push_heap(ready, std::greater<>());
  }

  // Posts the messages at the front of a queue, up to the first that waits for another task.
  void advance(std::uint32_t queue, double now) {
    std::uint32_t& next = next_[queue];
    for (; next < graph_.queues[queue].end; ++next) {
      const std::uint32_t item = graph_.queued[next];
      if (waits_for_[item] > 0) return;
      posted_[item] = true;
      const Item& message = graph_.items[item];
      if (!posted_[message.mate]) continue;
      network_.begin(is_send(message.action) ? item : message.mate, now);
    }
  }

  double seconds_of(const Item& task) const {
    const plan::CodecCost& codec = machine_.codec;
    switch (task.action) {
      case Action::kEncode:
        // A raw packet is its values, which stay where they are.
        return coded_ ? machine_.coding + time_at(task.bytes, codec.encode_bytes_per_second) : 0;
      case Action::kDecode:
      case Action::kReduce:
        if (!coded_) break;
        return machine_.coding + time_at(task.bytes, codec.decode_bytes_per_second);
      default:
        break;
    }
    return time_at(task.bytes, machine_.copy);
  }

  // Begins as many ready tasks as the rank has free threads.
  void start(std::uint32_t number, double now) {
    Actor& actor = actors_[number];
    while (!actor.ready.empty() && actor.working < machine_.threads) {
      std::ranges::pop_heap(actor.ready, std::greater<>());
      const std::uint32_t item = actor.ready.back();
      actor.ready.pop_back();
      ++actor.working;
      const double seconds = seconds_of(graph_.items[item]);
      // Time that the processor owes for messages delays its next work.
      const double owed = seconds > 0 ? network_.take_debt(number) : 0;
      events_.push({network_.cores_of(number).work(now, owed + seconds), item});
    }
  }

  // Ends a task, and releases those that wait for it.
  void complete(std::uint32_t item, double now) {
    const Item& task = graph_.items[item];
    const bool is_message = collective::is_message(task.action);
    if (!is_message) --actors_[task.actor].working;
    const std::size_t end = item + 1 < graph_.items.size() ? graph_.items[item + 1].first_follower
                                                           : graph_.followers.size();
    // Last follower first, as the executor does.
    for (std::size_t at = end; at-- > task.first_follower;) {
      const std::uint32_t follower = graph_.followers[at];
      if (--waits_for_[follower] == 0) be_ready(follower, now);
    }
    if (is_message && !is_send(task.action)) network_.received(item, now);
    start(task.actor, now);
  }

  const Graph& graph_;
  const Machine& machine_;
  const bool coded_;
  Events events_;
  Network network_;
  std::vector<Actor> actors_;
  std::vector<std::uint32_t> waits_for_;  // of each item: how many tasks it still waits for
  std::vector<bool> posted_;              // of each item that is a message
  std::vector<std::uint32_t> next_;       // of each queue: which of Graph::queued it posts next
};

}  // namespace

Result<double> run(const Graph& graph, const Machine& machine, const Call& call, const Fold& fold) {
  return Run(graph, machine, call, fold).finish();
}

}  // namespace thinwire::simulate
