#include "simulate/engine.h"

#include "simulate/network.h"
#include "simulate/processors.h"

namespace thinwire::simulate {
namespace {

using collective::Action;

constexpr std::uint32_t kNothing = UINT32_MAX;

// One simulation. A task runs after those that it waits for: coding and copies on a thread of their
// rank, messages on the network, after those before them in their queue. Each end is an event,
// which releases others. A rank's one thread sends and takes messages between its tasks; if it has
// more, the first is for messages alone and the others code.
class Run {
 public:
  Run(const Graph& graph, const Machine& machine, const Call& call, const Fold& fold)
      : graph_(graph),
        machine_(machine),
        coded_(call.coded()),
        fold_(fold),
        per_rank_(machine.threads == 1 ? 1 : machine.threads + 1),
        network_(graph, machine, call, fold, events_,
                 [this](std::uint32_t actor, double now) { wake(actor * per_rank_, now); }),
        threads_(static_cast<std::size_t>(fold.actors()) * per_rank_),
        ready_(static_cast<std::size_t>(fold.actors())) {
    const int nodes = fold.node_of(fold.actors() - 1) + 1;
    processors_.assign(machine.one_machine ? 1 : static_cast<std::size_t>(nodes),
                       Processors(machine.cores));
  }

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
    std::size_t done = 0;
    double now = 0;
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind == Event::Kind::kFree) {
        go_on(graph_.items[event.item].actor * per_rank_, event.at);
      } else if (event.kind != Event::Kind::kDone) {
        network_.go_on(event);
      } else {
        now = event.at;
        complete(event.item, now);
        ++done;
      }
    }
    if (done == graph_.items.size()) return now;
    return Status(StatusCode::kInternal, "simulated tasks wait for each other");
  }

 private:
  struct Thread {
    enum class State : std::uint8_t { kIdle, kWaits, kRuns };
    State state = State::kIdle;
    std::uint32_t item = kNothing;  // that it codes or copies
  };

  std::uint32_t actor_of(std::uint32_t thread) const { return thread / per_rank_; }
  bool moves_messages(std::uint32_t thread) const { return thread % per_rank_ == 0; }
  bool codes(std::uint32_t thread) const { return per_rank_ == 1 || !moves_messages(thread); }
  Processors& processors_of(std::uint32_t thread) {
    const auto node = machine_.one_machine ? 0 : fold_.node_of(static_cast<int>(actor_of(thread)));
    return processors_[static_cast<std::size_t>(node)];
  }

  // Takes in a task that waits for no other any more.
  void be_ready(std::uint32_t item, double now) {
    const Item& task = graph_.items[item];
    if (collective::is_message(task.action)) return advance(task.queue, now);
    auto& ready = ready_[task.actor];
    ready.push_back(item);
    std::ranges::push_heap(ready, std::greater<>());
    const std::uint32_t first = task.actor * per_rank_;
    for (std::uint32_t thread = first; thread < first + per_rank_; ++thread) {
      if (!codes(thread) || threads_[thread].state != Thread::State::kIdle) continue;
      return wake(thread, now);
    }
  }

  // Posts the messages at the front of a queue, up to the first that waits for another task.
  void advance(std::uint32_t queue, double now) {
    std::uint32_t& next = next_[queue];
    for (; next < graph_.queues[queue].end; ++next) {
      const std::uint32_t item = graph_.queued[next];
      if (waits_for_[item] > 0) return;
      network_.posted(item, now);
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

  bool has_work(std::uint32_t thread) const {
    const std::uint32_t actor = actor_of(thread);
    return (moves_messages(thread) && network_.has_step(actor)) ||
           (codes(thread) && !ready_[actor].empty());
  }

  // A thread that has something to do waits for a processor, if it has none.
  void wake(std::uint32_t number, double now) {
    Thread& thread = threads_[number];
    if (thread.state != Thread::State::kIdle || !has_work(number)) return;
    const bool runs = processors_of(number).take(number);
    thread.state = runs ? Thread::State::kRuns : Thread::State::kWaits;
    if (runs) work(number, now);
  }

  // Begins the next step of a thread that has a processor: messages come first.
  void work(std::uint32_t number, double now) {
    const std::uint32_t actor = actor_of(number);
    if (moves_messages(number) && network_.has_step(actor)) return network_.begin_step(actor, now);
    auto& ready = ready_[actor];
    std::ranges::pop_heap(ready, std::greater<>());
    threads_[number].item = ready.back();
    ready.pop_back();
    const double seconds = seconds_of(graph_.items[threads_[number].item]);
    // Time that the processor owes for messages delays its next work.
    const double owed = seconds > 0 ? network_.take_debt(actor) : 0;
    events_.push({now + owed + seconds, threads_[number].item});
  }

  // Follows the end of a step of a thread.
  void go_on(std::uint32_t number, double now) {
    Processors& processors = processors_of(number);
    if (has_work(number) && !processors.is_awaited()) return work(number, now);
    threads_[number].state = Thread::State::kIdle;
    hand_over(processors, now);
    wake(number, now);
  }

  // Gives a processor to the first that waits and still has work: another thread of its rank may
  // have done that.
  void hand_over(Processors& processors, double now) {
    for (std::uint32_t next; (next = processors.give_back()) != Processors::kNobody;) {
      threads_[next].state = Thread::State::kIdle;
      if (!has_work(next)) continue;
      threads_[next].state = Thread::State::kRuns;
      return work(next, now);
    }
  }

  // Ends a task, and releases those that wait for it.
  void complete(std::uint32_t item, double now) {
    const Item& task = graph_.items[item];
    const std::size_t end = item + 1 < graph_.items.size() ? graph_.items[item + 1].first_follower
                                                           : graph_.followers.size();
    // Last follower first, as the executor does.
    for (std::size_t at = end; at-- > task.first_follower;) {
      const std::uint32_t follower = graph_.followers[at];
      if (--waits_for_[follower] == 0) be_ready(follower, now);
    }
    if (collective::is_message(task.action)) return;
    const std::uint32_t first = task.actor * per_rank_;
    for (std::uint32_t thread = first; thread < first + per_rank_; ++thread) {
      if (threads_[thread].item != item) continue;
      threads_[thread].item = kNothing;
      return go_on(thread, now);
    }
  }

  const Graph& graph_;
  const Machine& machine_;
  const bool coded_;
  const Fold& fold_;
  const std::uint32_t per_rank_;  // threads
  Events events_;
  Network network_;
  std::vector<Thread> threads_;
  std::vector<Processors> processors_;
  // Tasks of each rank that wait for nothing but a thread; a heap, on top what comes first.
  std::vector<std::vector<std::uint32_t>> ready_;
  std::vector<std::uint32_t> waits_for_;  // of each item: how many tasks it still waits for
  std::vector<std::uint32_t> next_;       // of each queue: which of Graph::queued it posts next
};

}  // namespace

Result<double> run(const Graph& graph, const Machine& machine, const Call& call, const Fold& fold) {
  return Run(graph, machine, call, fold).finish();
}

}  // namespace thinwire::simulate
