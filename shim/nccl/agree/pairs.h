// A rank's connections to single other ranks: one for each direction in which something is sent,
// made by the sender when there is something to say. If it cannot be made, the pair's messages
// stay raw.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agree/idle.h"
#include "agree/round.h"
#include "agree/session.h"

namespace thinwire::nccl::agree {

class Pairs {
 public:
  struct Told {
    std::function<Address(int rank)> address;
    // Whether the process may have one more.
    std::function<bool()> has_room;
    std::function<Ledger&(int rank, bool outgoing)> ledger;
    std::function<void(const Part& part)> part;
    std::function<void(const std::string& why)> failed;
    // Tells that a connection that was used has ended: what goes over it has come to its end.
    std::function<void(int rank, bool outgoing, const std::string& why)> lost;
    // Tells that a connection cannot be made, and is tried again later.
    std::function<void(const std::string& why)> unreachable;
    // waits() tells that a connection was lost and is made again, progress() that is_done() may
    // have changed.
    std::function<void(int rank, const std::string& why)> waits;
    std::function<void()> progress;
  };
  struct Times {
    std::chrono::milliseconds connecting;
    std::chrono::milliseconds resuming;
    std::chrono::milliseconds refused;
  };

  Pairs(Loop& loop, Idle& idle, Openings& openings, const Secret& secret, int rank,
        const Times& times, Told told)
      : loop_(loop),
        idle_(idle),
        openings_(openings),
        secret_(secret),
        rank_(rank),
        times_(times),
        told_(std::move(told)) {}
  ~Pairs();
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;

  void offer(int rank, bool outgoing, std::uint64_t key, Offer offer);

  // Whether a part of a block has its way here: blocks do that began after the connection was made.
  // Opens one for later blocks.
  bool has_way(int rank, const Part& part);
  // Waits for the connection, if there is none.
  void send_part(int rank, SharedBytes packed);

  // The sender has come, for the first time or, before it knew that it had, again.
  bool adopt(std::unique_ptr<Link>& link, int from);
  // Takes the connection of a rank that has come again.
  bool adopt_again(std::unique_ptr<Link>& link, int from, std::uint64_t taken);
  // The receiver misses the connection.
  void wake(int rank);

  bool has_unsent() const;
  void leave();
  bool is_done() const;
  void dismiss();

 private:
  struct End {
    explicit End(Ledger& ledger) : rounds(ledger, kMostKindsOfPair) {}
    std::unique_ptr<Session> session;
    Rounds rounds;
    bool is_used = false;  // incoming: something has come by it
    // For outgoing ones:
    bool is_asked_for = false;
    bool is_tried = false;  // until the deadline
    bool is_open = false;
    std::set<Block> elsewhere;  // that have begun another way
    std::vector<SharedBytes> waiting;
    std::uint64_t waiting_bytes = 0;
    Loop::Clock::time_point deadline{};
    Loop::TimerId retry{};
    std::chrono::milliseconds delay = kFirstRetry;
  };

  End& end(int rank, bool outgoing);
  End& outgoing_open(int rank);
  std::unique_ptr<Session> session_with(int rank, bool outgoing);
  void begin_connecting(int rank);
  void ask_to_connect(int rank);
  void connect(int rank);
  void opened(int rank);
  void ended(int rank, bool outgoing, const std::string& why);
  void give_up(int rank, const std::string& why);
  void take_from_receiver(int rank, Message&& message);
  void take_from_sender(int rank, Message&& message);

  Loop& loop_;
  Idle& idle_;
  Openings& openings_;
  const Secret secret_;
  const int rank_;
  const Times times_;
  const Told told_;
  bool leaves_ = false;
  std::map<std::pair<int, bool>, std::unique_ptr<End>> ends_;
};

}  // namespace thinwire::nccl::agree
