// How the two sides of a connection show each other that they know a communicator's secret, and
// never say it. Knows no sockets: what is to be said comes out, what was said goes in.
#pragma once

#include <functional>
#include <optional>

#include "agree/messages.h"

namespace thinwire::nccl::agree {

class Handshake {
 public:
  // What the side that was connected to knows of the other's communicator; nothing: a stranger.
  using Finder = std::function<std::optional<Introduction>(const Hello&)>;

  // Of the side that makes the connection.
  explicit Handshake(const Introduction& own);
  // Of the other.
  explicit Handshake(Finder find) : find_(std::move(find)) {}

  // Begins it; nothing of the side that was connected to.
  std::optional<Message> first() const;
  // False: the other side is a stranger, or nothing that helpers say.
  bool take(const Message& message);
  // What is to be said after that, if anything.
  std::optional<Message> answer() { return std::exchange(answer_, std::nullopt); }

  // Whether this side has made the connection.
  bool makes() const { return !find_; }
  // Once both have shown it:
  bool is_done() const { return done_; }
  const Introduction& introduction() const { return introduction_; }
  // Of what this side says, and of what the other does.
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
  Bytes said_;  // once both have said something
  std::optional<Message> answer_;
  Keys keys_;
  bool done_ = false;
};

}  // namespace thinwire::nccl::agree
