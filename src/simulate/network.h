// Messages on their way: the sender's software, its node's link, the receiver's link and software.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "simulate/graph.h"
#include "simulate/resources.h"

namespace thinwire::simulate {

struct Event {
  // kDone: a task or message is; kSent: the sender's software is through with a message;
  // kArrived: its first byte reaches the receiver's node; kTaken: the software there begins.
  enum class Kind : std::uint8_t { kDone, kSent, kArrived, kTaken };
  double at;
  std::uint32_t item;
  Kind kind = Kind::kDone;
  friend bool operator>(const Event& one, const Event& other) {
    return one.at != other.at ? one.at > other.at : one.item > other.item;
  }
};
using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

class Network {
 public:
  Network(const Graph& graph, const Machine& machine, const Call& call, const Fold& fold,
          Events& events);

  // A message whose both ends are posted.
  void begin(std::uint32_t send, double now);

  // Follows an event of another kind than kDone; and the end of a receive.
  void go_on(const Event& event);
  void received(std::uint32_t receive, double now);

  // Seconds for which the rank's messages have kept it from coding since this was asked last.
  double take_debt(std::uint32_t actor);

  Cores& cores_of(std::uint32_t actor);
  double wire_bytes(const Item& send) const;

 private:
  // One way of a rank's software, which takes messages one after the other.
  struct Side {
    std::vector<std::uint32_t> queue;
    std::size_t next = 0;
    bool busy = false;
    double debt = 0;
  };
  struct Node {
    explicit Node(std::uint32_t cores) : cores(cores) {}
    Line out, memory;
    Entry in;
    Cores cores;
  };

  Node& node_of(std::uint32_t actor) {
    return nodes_[static_cast<std::size_t>(fold_.node_of(static_cast<int>(actor)))];
  }
  double software(const Item& send) const;
  void arrive(std::uint32_t receive, double now);
  void send_next(std::uint32_t actor, double now);
  void take_next(std::uint32_t actor, double now);

  const Graph& graph_;
  const Machine& machine_;
  const bool coded_;
  const Fold& fold_;
  Events& events_;
  std::vector<Side> out_, in_;
  std::vector<Node> nodes_;
};

}  // namespace thinwire::simulate
