// How the two sides of a connection show each other that they know a communicator's secret, and
// never say it. Knows no sockets: what is to be said comes out, what was said goes in.
#pragma once

#include <functional>
#include <optional>

#include "agree/messages.h"

namespace thinwire::nccl::agree {

class Handshake {
 public:
  // Finds what the side that was connected to knows of the other's communicator; nothing: a
  // stranger.
  using Finder = std::function<std::optional<Introduction>(const Hello&)>;

  // For the side that makes the connection.
  explicit Handshake(const Introduction& own);
  // For the other side.
  explicit Handshake(Finder find) : find_(std::move(find)) {}

  // Begins it; nothing of the side that was connected to.
  std::optional<Message> first() const;
  // False: the other side is a stranger, or nothing that helpers say.
  bool take(const Message& message);
  // The message that is to be sent after that, if any.
  std::optional<Message> answer() { return std::exchange(answer_, std::nullopt); }

  // Whether this side has made the connection.
  bool makes() const { return !find_; }
  // After both have shown it:
  bool is_done() const { return done_; }
  const Introduction& introduction() const { return introduction_; }
  // The keys of what this side says, and of what the other does.
  const Key& key_out() const { return makes() ? keys_.of_maker : keys_.of_other; }
  const Key& key_in() const { return makes() ? keys_.of_other : keys_.of_maker; }

 private:
  bool take_hello(const Hello& hello);
  bool take_challenge(const Challenge& challenge);
  bool take_proven(const Proven& proven);
  void finish();

  const Finder find_;
  Introduction introduction_;
  Hello hello_;
  Bytes said_;  // after both have said something
  std::optional<Message> answer_;
  Keys keys_;
  bool done_ = false;
};

}  // namespace thinwire::nccl::agree
