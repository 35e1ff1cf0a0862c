// The registrar's side of registration. The ranks of a communicator meet here, and it is decided
// whether all of them have the library and agree on its settings. The connection of a rank that has
// registered is closed, and its address kept, so that it can be called. Only rank 0 keeps its
// connection: it waits for the word to begin.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agree/link.h"
#include "agree/messenger.h"
#include "agree/terms.h"

namespace thinwire::nccl::agree {

std::string lacking_text(int lacking, int ranks);

class Meeting {
 public:
  using Tell = std::function<void(const std::string&)>;
  struct Times {
    std::chrono::milliseconds all;   // for all ranks to come, from the first on
    std::chrono::milliseconds late;  // after which the ranks that have come are told that others
                                     // have not
  };
  // How a rank has registered, and how it is answered: over a connection, or over the tree of the
  // communicator of which this one is a part.
  struct Way {
    std::unique_ptr<Link> link;
    // Sends a message to the rank down that tree. False if the tree no longer leads there.
    std::function<bool(const Message&)> tree;
  };
  Meeting(Loop& loop, Messenger& messenger, const Secret& secret, const Times& times, Tell tell)
      : loop_(loop),
        messenger_(messenger),
        secret_(secret),
        times_(times),
        tell_(std::move(tell)) {}
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  void take(Way way, const Register& said);
  // A rank reports that the ranks, all of which have come, cannot be connected. The first report
  // decides.
  void failed(const std::string& why) { decide_raw(why); }
  // Tells the ranks that have come that this process ends.
  void leave();
  bool is_decided() const { return ready_ || !raw_.empty(); }

 private:
  struct Seat {
    Way way;
    Address listens;
    std::uint64_t host = 0, domain = 0;
  };

  std::string objection(const Register& said) const;
  void begin(const Register& said);
  void seat(int rank, Way way, const Register& said);
  void answer(int rank);
  void say(int rank, Seat& seat, const Message& message);
  void say_late();
  std::string late_text() const;
  void ended(int rank);
  void decide_ready();
  bool are_joined() const;
  void say_ready();
  void decide_raw(const std::string& why, bool tell = true);
  void say_raw();
  void close(std::unique_ptr<Link> link);

  Loop& loop_;
  Messenger& messenger_;
  const Secret secret_;
  const Times times_;
  const Tell tell_;
  Loop::TimerId timer_{};
  Loop::TimerId missed_{};  // rank 0, whose connection has ended, and which may come again
  std::map<int, Seat> seats_;
  int ranks_ = 0;  // 0: nobody has come
  int first_rank_ = 0;
  std::string first_terms_;
  bool is_late_ = false;
  bool ready_ = false;
  Table table_;      // of all ranks; set when `ready_` is
  std::string raw_;  // why the communicator stays raw; empty unless that is decided
};

}  // namespace thinwire::nccl::agree
