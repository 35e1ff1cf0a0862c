// Secrets that ranks of a communicator know and others do not, and what is made of them:
// spec/nccl-helpers.md. Pure functions, but for what is random.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agree/fields.h"

namespace thinwire::nccl::agree {

// The secret of a communicator. It travels in the unique id alone.
using Secret = std::array<std::byte, 16>;
// The name by which others call the communicator: nobody finds its secret from it.
using Name = std::array<std::byte, 16>;
// Said once.
using Nonce = std::array<std::byte, 16>;
using Proof = std::array<std::byte, 16>;
using Key = std::array<std::byte, 32>;

// Keys of one connection, by which each of its sides authenticates its messages.
struct Keys {
  Key of_maker{}, of_other{};
};

Secret random_secret();
Nonce random_nonce();

Name name_of(const Secret& secret);

// Derives the secret of the part of a communicator that a split gives one color. Nobody finds the
// parent's from it.
Secret derive(const Secret& parent, std::uint64_t split, std::int32_t color);

// Proves that its speaker knows the secret. `said`: what both sides have said before.
Proof proof_of_maker(const Secret& secret, ByteView said);
Proof proof_of_other(const Secret& secret, ByteView said);
Keys keys_of(const Secret& secret, ByteView said);

// Takes as long wherever they differ.
bool equal(const Proof& one, const Proof& other);

// Shows that the messages of one direction of a connection are the other side's, whole and in
// order: each has a tag, which its place goes into.

using Tag = Proof;

class Seal {
 public:
  explicit Seal(const Key& key) : key_(key) {}

  // The tag of the next message.
  Tag next(ByteView message);
  // Whether it is the next message. If it is not, no later one is.
  bool fits(ByteView message, const Tag& tag) { return equal(next(message), tag); }

 private:
  Key key_;
  std::uint64_t number_ = 0;
};

}  // namespace thinwire::nccl::agree
