// A connection between helpers: whole messages in and out, after both sides have shown that they
// know the communicator's secret. Each message is shown to be the other side's. Belongs to the
// helper's thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "agree/handshake.h"
#include "agree/loop.h"
#include "agree/outbox.h"
#include "agree/secrets.h"

namespace thinwire::nccl::agree {

class Link {
 public:
  // The socket is on its way. What is sent waits until the other side has shown the secret.
  Link(Loop& loop, Socket socket, const Introduction& as);
  // Another helper, or a stranger, has made it.
  Link(Loop& loop, Socket socket, Handshake::Finder find);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Set before the loop's next turn. Each may hand the link to Loop::bury(), or give it other
  // handlers. A Part's bytes are gone after the call. `ended` comes once, when the other side or
  // the network has ended it, never from within send().
  std::function<void(Message&& message)> on_message;
  std::function<void()> on_connected;
  std::function<void()> on_proven;  // the other side has shown the secret
  std::function<void(const std::string& why)> on_ended;

  // The longest message that is read from now on. Begins at kMostGreeting.
  void trust() { most_ = kMostMessage; }

  // Queue and return. Parts of blocks give way to what is urgent.
  void send(const Message& message);
  void send_part(SharedBytes packed);

  // Goes before them: greetings, and what says how many of the other side's messages were taken.
  // Greetings have their heads from what the connection began with; of another version there is a
  // Register, and nothing after it.
  void send_control(const Message& message);
  // Has it send what a session has, which lives longer, from now on.
  void use(Outbox& out);
  // Something has been put there.
  void write();

  bool has_unsent() const { return !controls_.empty() || out_->has_unsent(); }
  bool is_connected() const { return !connecting_; }
  // The errno of a connection that could not be made.
  int error() const { return error_; }
  int fd() const { return socket_.fd(); }
  Address local() const { return local_address(socket_); }
  // Nothing is read or written any more; no handler is called.
  void close();

  // Sends what is queued and closes; lives on its own until then, for kExitTime at most. The loop
  // may end first.
  static void dismiss(Loop& loop, std::unique_ptr<Link> link);

 private:
  void begin(std::uint32_t events);
  void ready(std::uint32_t events);
  bool finish_connecting();
  void shake_hands(const Message& message);
  void say_first(const Message& message);
  void hand_on(Message&& message);
  std::size_t most() const { return handshake_.is_done() ? most_ : kMostGreeting; }
  std::span<std::byte> room();
  void read_some();
  void take_messages();
  void take_one(ByteView message);
  bool can_write() const;
  void begin_message();
  bool write_rest();
  void written();
  void write_some();
  void watch_what_is_needed();
  void end(const std::string& why);
  void stop_counting();

  Loop& loop_;
  Socket socket_;
  std::uint64_t watched_ = 0;
  std::uint32_t events_ = 0;
  bool connecting_ = false;
  int error_ = 0;
  bool dismissed_ = false;
  bool counts_ = false;  // in Loop::unfinished
  std::size_t most_ = kMostGreeting;

  Handshake handshake_;
  bool is_greeted_ = false;  // by the other side, who has made it
  std::optional<Seal> seal_in_, seal_out_;

  Bytes in_;
  std::size_t in_begin_ = 0;  // what is not taken yet
  std::size_t in_end_ = 0;
  std::deque<SharedBytes> first_;  // of the handshake
  std::deque<SharedBytes> controls_;
  Outbox own_;
  Outbox* out_ = &own_;
  // The message that is being written, with its tag if it has one.
  SharedBytes writing_;
  enum { kOfFirst, kOfControls, kOfOutbox } writing_of_ = kOfFirst;
  Tag tag_{};
  std::size_t tag_bytes_ = 0;
  std::size_t written_ = 0;
};

}  // namespace thinwire::nccl::agree
