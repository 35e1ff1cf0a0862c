// Messages between two helpers, over one connection after the other: a connection that ends is made
// again, and what the other side has not taken is sent again. Belongs to the helper's thread.
//
// A pair's connection that is not used is ended by both sides, and made again when one of them has
// something to say: idle.h chooses which.
//
// One side makes the connections. The other, which knows where the first listens, asks it to when
// it misses one, and finds out so whether its process is still there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agree/idle.h"
#include "agree/link.h"
#include "agree/outbox.h"
#include "agree/spare_bytes.h"

namespace thinwire::nccl::agree {

class Session {
 public:
  struct Ends {
    Secret secret{};
    int own = 0;
    int other = 0;
    bool of_pair = false;
    bool makes = false;  // the connections
    std::chrono::milliseconds patience{};
    std::chrono::milliseconds refused{};  // how long another machine's refusals are no death
    // The most that is kept for the other side; if it takes no more, it is lost.
    std::uint64_t most_kept = quarter_of_memory();
    Idle* idle = nullptr;  // of pairs
  };
  // The session may be buried from within each but `waits`.
  struct Told {
    std::function<void(Message&& message)> message;
    // The other side's first word on the first connection.
    std::function<void()> opened;
    // Nothing comes any more. Before hold() it is the connection alone that has ended.
    std::function<void(const std::string& why)> lost;
    // A connection was lost and is made again.
    std::function<void(const std::string& why)> waits;
    // Something has changed that is_done() may depend on.
    std::function<void()> progress;
  };

  Session(Loop& loop, const Ends& ends, Told told);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // ---- how it begins ----
  void connect(const Address& to, const Message& greeting);
  // The other side has made the first connection, and greeted.
  void adopt(std::unique_ptr<Link> link);
  // Sets where the other side listens.
  void know(const Address& other) { other_at_ = other; }
  // Has a connection that ends made again, from now on.
  void hold() { holds_ = true; }

  // ---- a connection was lost ----
  // The other side has made another one, and has taken so many messages. False: that cannot be.
  bool adopt_again(std::unique_ptr<Link>& link, std::uint64_t taken);
  // The other side misses one.
  void wake();

  // ---- rest ----
  // Whether the connection can be ended for now, and the wish, which the other side may not share.
  bool may_rest() const;
  void wish_rest();

  // ---- messages ----
  void send(const Message& message);
  void send_part(SharedBytes packed);
  bool has_unsent() const { return out_.has_unsent(); }
  // Whether what is sent may still arrive.
  bool can_send() const { return !over_ && !other_leaves_; }

  // ---- ends ----
  // This side has no more to say of its own; others' parts it still passes on.
  void leave();
  // Nothing comes any more.
  bool is_over() const { return over_; }
  // Nobody needs this side any more.
  bool is_done() const;
  // Sends what is queued and ends; nobody is told any more.
  void dismiss();

 private:
  Introduction introduction() const;
  void attach(std::unique_ptr<Link> link);
  void limit_connecting();
  void link_ended(const std::string& why);
  std::chrono::milliseconds most_refused() const;
  bool has_ended(bool refused);
  bool says_nothing(bool unanswered);
  void again();
  void answered(Message&& message);
  void resume(std::uint64_t taken);
  void give_up();
  void end();
  void take_rest(std::uint64_t taken);
  void begin_rest();
  void wake_from_rest();
  void used();
  void write();
  void take(Message&& message);
  void count(const Message& message);
  void say_taken();
  void send_last(const Message& message);
  void drop_link();
  void lose(const std::string& why, bool has_gone = false);

  Loop& loop_;
  const Ends ends_;
  const Told told_;
  std::optional<Address> other_at_;
  std::unique_ptr<Link> link_;
  Outbox out_;
  bool opened_ = false;
  bool holds_ = false;
  bool over_ = false;
  bool leaves_ = false, other_leaves_ = false, heard_gone_ = false;
  std::uint64_t taken_ = 0;   // of the other side's messages
  unsigned unsaid_ = 0;       // how much it has not been told of that
  bool wishes_rest_ = false;  // and the other side has not answered
  bool heard_rest_ = false;   // since then, which may have been the answer
  bool rests_ = false;
  bool has_rested_ = false;  // until there is a connection again
  bool has_part_ = false;    // something that the other side waits for, meanwhile
  bool given_up_ = false;

  // While there is no connection:
  static constexpr Loop::Clock::time_point kNow{};  // of `lost_at_`: nothing is lost
  Loop::Clock::time_point lost_at_{};
  Loop::TimerId retry_{};
  Loop::TimerId limit_{};
  Loop::TimerId full_{};
  std::chrono::milliseconds delay_{};
  int refused_ = 0, unlistened_ = 0, unanswered_ = 0;
  Loop::Clock::time_point refused_since_{}, unanswered_since_{};
};

}  // namespace thinwire::nccl::agree
