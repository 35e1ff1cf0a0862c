// A connection between helpers: whole messages in and out. Belongs to the helper's thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "agree/loop.h"
#include "agree/messages.h"
#include "agree/outbox.h"

namespace thinwire::nccl::agree {

class Link {
 public:
  // `connecting`: the socket is on its way.
  Link(Loop& loop, Socket socket, bool connecting);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Set before the loop's next turn. Each may hand the link to Loop::bury(), or give it other
  // handlers. A Part's bytes are gone after the call. `ended` comes once, when the other side or
  // the network has ended it, never from within send().
  std::function<void(Message&& message)> on_message;
  std::function<void()> on_connected;
  std::function<void(const std::string& why)> on_ended;

  // The longest message that is read from now on. Begins at kMostGreeting.
  void trust() { most_ = kMostMessage; }

  // Queue and return. Parts of blocks give way to what is urgent.
  void send(const Message& message);
  void send_part(SharedBytes packed);

  // Goes before them: greetings, and what says how many of the other side's messages were taken.
  void send_control(const Message& message);
  // From now on it sends what a session has, which lives longer.
  void use(Outbox& out);
  // Something has been put there.
  void write();

  bool has_unsent() const { return !controls_.empty() || out_->has_unsent(); }
  bool is_connected() const { return !connecting_; }
  // Of a connection that could not be made: an errno.
  int error() const { return error_; }
  int fd() const { return socket_.fd(); }
  Address local() const { return local_address(socket_); }
  // Nothing is read or written any more; no handler is called.
  void close();

  // Sends what is queued and closes; lives on its own until then, for kExitTime at most. The loop
  // may end first.
  static void dismiss(Loop& loop, std::unique_ptr<Link> link);

 private:
  void ready(std::uint32_t events);
  bool finish_connecting();
  std::span<std::byte> room();
  void read_some();
  void take_messages();
  void write_some();
  void watch_what_is_needed();
  void end(const std::string& why);
  void stop_counting();

  Loop& loop_;
  Socket socket_;
  std::uint64_t watched_ = 0;
  std::uint32_t events_ = 0;
  bool connecting_;
  int error_ = 0;
  bool dismissed_ = false;
  bool counts_ = false;  // in Loop::unfinished
  std::size_t most_ = kMostGreeting;

  Bytes in_;
  std::size_t in_begin_ = 0;  // what is not taken yet
  std::size_t in_end_ = 0;
  std::deque<SharedBytes> controls_;
  Outbox own_;
  Outbox* out_ = &own_;
  SharedBytes writing_;
  bool is_control_ = false;
  std::size_t written_ = 0;
};

}  // namespace thinwire::nccl::agree
