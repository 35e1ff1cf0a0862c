// Messages on their way: the sender's software, its node's link, the receiver's link and software.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "simulate/graph.h"
#include "simulate/resources.h"

namespace thinwire::simulate {

struct Event {
  // kDone: a task or message is. kFree: a rank's software is through with a step of a message.
  // kArrived: the first byte of values reaches the receiver's node. kCame: the last one does, but
  // for those that its software is at. kAsked, kAnswered, kEnded: a note of a message comes.
  // kWritten: the sender has handed all values to the link.
  enum class Kind : std::uint8_t {
    kDone,
    kWritten,
    kArrived,
    kCame,
    kAsked,
    kAnswered,
    kEnded,
    kFree  // after all else at that time
  };
  double at;
  std::uint32_t item;
  Kind kind = Kind::kDone;
  friend bool operator>(const Event& one, const Event& other) {
    if (one.at != other.at) return one.at > other.at;
    return one.item != other.item ? one.item > other.item : one.kind > other.kind;
  }
};
using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

// Messages go as an MPI sends them over TCP. Between nodes one of up to `eager` bytes goes as soon
// as its sender posts it. Of a longer one the sender asks, the receiver answers when its end is
// posted, the values go, and a note that ends them. If `eager` is 0, and inside a node, a message
// goes when both ends are posted. Notes have no bytes; they wait for what goes before them.
class Network {
 public:
  // Calls `wake` for a rank whose software gets something to do.
  using Wake = std::function<void(std::uint32_t actor, double now)>;

  Network(const Graph& graph, const Machine& machine, const Call& call, const Fold& fold,
          Events& events, Wake wake);

  // One end of a message is posted.
  void posted(std::uint32_t item, double now);

  // Follows an event of another kind than kDone and kFree.
  void go_on(const Event& event);

  // Whether the rank's software has something to do; and the next thing, which ends with kFree.
  bool has_step(std::uint32_t actor) const {
    return hands_[actor].next < hands_[actor].steps.size();
  }
  void begin_step(std::uint32_t actor, double now);

  // Seconds for which the rank's messages have kept it from coding since this was asked last.
  double take_debt(std::uint32_t actor);

 private:
  // kSend and kRead are of values; kTake ends a message, with its values if nobody asked.
  enum class Act : std::uint8_t { kAsk, kAnswer, kSend, kRead, kTake };
  struct Step {
    std::uint32_t item;
    Act act;
  };
  // A rank's software, which does one thing after the other.
  struct Hand {
    std::vector<Step> steps;
    std::size_t next = 0;
    double debt_out = 0, debt_in = 0;
  };
  // A message, by its receive.
  struct State {
    bool sends = false, receives = false;  // which ends are posted
    bool here = false;                     // the question, or the values, came
    double last = 0;                       // when the last byte came, or will
  };
  struct Node {
    Line out, memory;
    Entry in;
  };

  Node& node_of(std::uint32_t actor) {
    return nodes_[static_cast<std::size_t>(fold_.node_of(static_cast<int>(actor)))];
  }
  double wire_bytes(const Item& send) const;
  bool goes_early(const Item& item) const { return !item.inside && machine_.eager > 0; }
  bool asks(const Item& send) const {
    return goes_early(send) && wire_bytes(send) > machine_.eager;
  }
  double line_seconds(const Item& send) const;
  double stack_seconds(const Item& send) const;
  double seconds_of(const Step& step) const;
  void add(std::uint32_t item, Act act, double now);
  void leave(std::uint32_t send, double now, double end);
  void arrive(std::uint32_t receive, double now);
  void come(std::uint32_t receive, Act act, double now);
  void note(std::uint32_t item, Event::Kind kind, double now);

  const Graph& graph_;
  const Machine& machine_;
  const bool coded_;
  const double burst_, buffer_;  // seconds that a link takes for them
  const Fold& fold_;
  Events& events_;
  const Wake wake_;
  std::vector<Hand> hands_;
  std::vector<State> states_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> connection_;  // of each queue: that to the same rank, if there is one
  std::vector<double> left_;               // when the last value of a connection leaves
};

}  // namespace thinwire::simulate
