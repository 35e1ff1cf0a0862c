#include "simulate/network.h"

#include <utility>

namespace thinwire::simulate {

using Kind = Event::Kind;

Network::Network(const Graph& graph, const Machine& machine, const Call& call, const Fold& fold,
                 Events& events, Wake wake)
    : graph_(graph),
      machine_(machine),
      coded_(call.coded()),
      burst_(machine.burst / machine.link),
      buffer_(machine.buffer / machine.link),
      fold_(fold),
      events_(events),
      wake_(std::move(wake)),
      hands_(static_cast<std::size_t>(fold.actors())),
      states_(graph.items.size()),
      nodes_(static_cast<std::size_t>(fold.node_of(fold.actors() - 1) + 1)),
      left_(graph.queues.size()) {
  for (Node& node : nodes_) node.out.empty_at = node.in.line.empty_at = -machine.pause;
  for (int actor = 0; actor < fold.actors(); ++actor) {
    const auto end = graph.first_queue[static_cast<std::size_t>(actor) + 1];
    for (auto at = graph.first_queue[static_cast<std::size_t>(actor)]; at < end; ++at) {
      // The queue of sends to a rank comes right after that of receives.
      const bool has_sends = at + 1 < end && graph.queues[at + 1].peer == graph.queues[at].peer;
      connection_.push_back(has_sends ? at + 1 : at);
    }
  }
}

double Network::wire_bytes(const Item& send) const {
  const bool is_coded = coded_ && send.action == collective::Action::kSend;
  return is_coded ? send.bytes / machine_.codec.ratio : send.bytes;
}

double Network::line_seconds(const Item& send) const {
  const double bytes = wire_bytes(send);
  return send.inside ? time_at(bytes, machine_.inside) : bytes / machine_.link;
}

double Network::stack_seconds(const Item& send) const {
  return send.inside ? 0 : time_at(wire_bytes(send), machine_.stack);
}

void Network::posted(std::uint32_t item, double now) {
  const Item& own = graph_.items[item];
  const bool sends = is_send(own.action);
  State& state = states_[sends ? own.mate : item];
  (sends ? state.sends : state.receives) = true;
  if (!goes_early(own)) {
    if (state.sends && state.receives) add(sends ? item : own.mate, Act::kSend, now);
  } else if (sends) {
    add(item, asks(own) ? Act::kAsk : Act::kSend, now);
  } else if (state.here) {
    add(item, asks(graph_.items[own.mate]) ? Act::kAnswer : Act::kTake, now);
  }
}

void Network::add(std::uint32_t item, Act act, double now) {
  const std::uint32_t actor = graph_.items[item].actor;
  hands_[actor].steps.push_back({item, act});
  wake_(actor, now);
}

double Network::seconds_of(const Step& step) const {
  const Item& item = graph_.items[step.item];
  const Item& send = is_send(item.action) ? item : graph_.items[item.mate];
  switch (step.act) {
    case Act::kAsk:
    case Act::kAnswer:
      return machine_.message;
    case Act::kRead:
      return stack_seconds(send);
    case Act::kTake:
      if (asks(send)) return machine_.message;
      break;
    case Act::kSend:
      break;
  }
  return machine_.message + stack_seconds(send);
}

void Network::begin_step(std::uint32_t actor, double now) {
  Hand& hand = hands_[actor];
  const Step step = hand.steps[hand.next++];
  const double end = now + seconds_of(step);
  switch (step.act) {
    case Act::kAsk:
      note(step.item, Kind::kAsked, end);
      break;
    case Act::kAnswer:
      note(step.item, Kind::kAnswered, end);
      break;
    case Act::kSend:
      leave(step.item, now, end);
      break;
    case Act::kRead:
      break;
    case Act::kTake:
      events_.push({std::max(end, states_[step.item].last), step.item});
      break;
  }
  events_.push({end, step.item, Kind::kFree});
}

// Bytes flow on while the software works on those after them.
void Network::leave(std::uint32_t send, double now, double end) {
  const Item& item = graph_.items[send];
  Node& node = node_of(item.actor);
  Line& line = item.inside ? node.memory : node.out;
  const double seconds = line_seconds(item);
  const auto [first, last] = line.pass(now + machine_.message, seconds, item.inside ? 0 : burst_);
  hands_[item.actor].debt_out += (1 - machine_.overlap) * seconds;
  left_[item.queue] = last;
  const double latency = item.inside ? machine_.inside_latency : machine_.latency;
  states_[item.mate].last = last + latency;
  events_.push({first + latency, item.mate, Kind::kArrived});
  const double written = std::max(goes_early(item) ? last - buffer_ : last, end);
  events_.push({written, send, asks(item) ? Kind::kWritten : Kind::kDone});
}

void Network::arrive(std::uint32_t receive, double now) {
  const Item& item = graph_.items[receive];
  const Item& send = graph_.items[item.mate];
  const double seconds = line_seconds(send);
  Entry& in = node_of(item.actor).in;
  const double last = item.inside ? now + seconds : in.pass(now, seconds, burst_, machine_.incast);
  State& state = states_[receive];
  state.last = std::max(state.last, last);
  hands_[item.actor].debt_in += (1 - machine_.overlap) * seconds;
  const double software = machine_.message + stack_seconds(send);
  events_.push({std::max(now, state.last - software), receive, Kind::kCame});
}

// The question came, or the values that nobody asked for.
void Network::come(std::uint32_t receive, Act act, double now) {
  State& state = states_[receive];
  state.here = true;
  if (state.receives) add(receive, act, now);
}

// It goes after all values of its own connection, but of others only those wait before it for
// which their connections have found room.
void Network::note(std::uint32_t item, Kind kind, double now) {
  const Item& own = graph_.items[item];
  const double others = std::min(node_of(own.actor).out.empty_at, now + buffer_);
  const double leaves = std::max({now, left_[connection_[own.queue]], others});
  events_.push({leaves + machine_.latency, own.mate, kind});
}

void Network::go_on(const Event& event) {
  const Item& item = graph_.items[event.item];
  switch (event.kind) {
    case Kind::kArrived:
      return arrive(event.item, event.at);
    case Kind::kCame:
      if (asks(graph_.items[item.mate])) return add(event.item, Act::kRead, event.at);
      return come(event.item, Act::kTake, event.at);
    case Kind::kAsked:
      return come(event.item, Act::kAnswer, event.at);
    case Kind::kAnswered:
      return add(event.item, Act::kSend, event.at);
    case Kind::kWritten:
      events_.push({event.at, event.item});
      return note(event.item, Kind::kEnded, event.at);
    case Kind::kEnded:
      return add(event.item, Act::kTake, event.at);
    case Kind::kDone:
    case Kind::kFree:
      break;
  }
}

// Both ways go on at once.
double Network::take_debt(std::uint32_t actor) {
  Hand& hand = hands_[actor];
  const double debt = std::max(hand.debt_out, hand.debt_in);
  hand.debt_out = hand.debt_in = 0;
  return debt;
}

}  // namespace thinwire::simulate
