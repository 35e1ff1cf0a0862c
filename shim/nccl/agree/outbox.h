// Messages that a connection is to send, in order; a session's also keeps what the other side may
// not have taken yet.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "agree/fields.h"

namespace thinwire::nccl::agree {

using SharedBytes = std::shared_ptr<const Bytes>;

class Outbox {
 public:
  // Parts of blocks give way to what is urgent.
  void put(SharedBytes message);
  void put_part(SharedBytes message);

  bool has_unsent() const { return at_ < kept_.size() || !urgent_.empty() || !parts_.empty(); }
  // Nothing is to be sent, and the other side has all.
  bool is_empty() const { return kept_.empty() && !has_unsent(); }
  // Bytes of all that is here, with what is kept beside each message.
  std::uint64_t bytes() const { return bytes_; }

  // The message that is written next, of which there is some; the same one until it has been
  // written.
  const SharedBytes& next();
  void written();

  // Keeps what is written, from now on, until the other side has taken it.
  void keep() { keeps_ = true; }
  void stop_keeping();
  // The other side has taken so many messages in all. False: that cannot be.
  bool took(std::uint64_t count);
  // The same after a lost connection: what it has not taken is written again.
  bool rewind(std::uint64_t count);

  void clear();

 private:
  void forget(std::size_t count);

  std::deque<SharedBytes> kept_, urgent_, parts_;
  std::size_t at_ = 0;  // of what is kept, the first that is not written
  std::uint64_t taken_ = 0;
  std::uint64_t bytes_ = 0;
  bool keeps_ = false;
};

}  // namespace thinwire::nccl::agree
