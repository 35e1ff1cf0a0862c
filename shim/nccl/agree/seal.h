// Shows that the messages of one direction of a connection are the other side's, whole and in
// order: each has a tag, which its place goes into.
#pragma once

#include "agree/secrets.h"

namespace thinwire::nccl::agree {

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
