// Calls of one kind on one communicator: what has been measured of them, and what was offered to
// the other ranks.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "agree/agree.h"
#include "coding/needs.h"

namespace thinwire::nccl {

class Class {
 public:
  Class(agree::Channel& channel, std::uint64_t key) : channel_(&channel), key_(key) {}

  agree::Answer value(std::uint64_t call) { return channel_->value(call, key_); }

  // Whether this call, which goes raw for `reason`, is encoded beside to learn its size.
  bool wants_trial(std::uint16_t reason);

  // What blocks needed in 512ths; `again`: the earlier ones count no more, as the class was raw.
  void measured(std::uint32_t needed, bool again);
  // It has to stay raw here.
  void veto(std::uint16_t reason);

 private:
  agree::Channel* channel_;
  std::uint64_t key_;
  std::uint64_t raw_calls_ = 0;  // of the host
  // Of whoever reports, one at a time.
  bool vetoed_ = false;
  Needs needs_;
};

// Calls that are numbered together.
class Track {
 public:
  explicit Track(agree::Channel& channel) : channel_(channel) {}

  std::uint64_t next() { return next_++; }
  // The last call was none.
  void take_back() { --next_; }
  Class& of(std::uint64_t key) {
    if (last_ != nullptr && last_key_ == key) return *last_;
    last_key_ = key;
    last_ = &classes_.try_emplace(key, channel_, key).first->second;
    return *last_;
  }

 private:
  agree::Channel& channel_;
  std::uint64_t next_ = 0;
  std::uint64_t last_key_ = 0;
  Class* last_ = nullptr;
  std::unordered_map<std::uint64_t, Class> classes_;
};

}  // namespace thinwire::nccl
