// A connection between helpers: whole messages in and out. Belongs to the helper's thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "agree/loop.h"
#include "agree/messages.h"

namespace thinwire::nccl::agree {

using SharedBytes = std::shared_ptr<const Bytes>;

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

  bool has_unsent() const { return !urgent_.empty() || !parts_.empty(); }
  bool is_connected() const { return !connecting_; }
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
  bool dismissed_ = false;
  bool counts_ = false;  // in Loop::unfinished
  std::size_t most_ = kMostGreeting;

  Bytes in_;
  std::size_t in_begin_ = 0;  // what is not taken yet
  std::size_t in_end_ = 0;
  std::deque<SharedBytes> urgent_;
  std::deque<SharedBytes> parts_;
  SharedBytes writing_;  // one of the two queues' first
  std::size_t written_ = 0;
};

}  // namespace thinwire::nccl::agree
