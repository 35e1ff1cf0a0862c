// The carrier of the tests' mailboxes.
#include "streams.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>

namespace thinwire::slots {

Carrier::~Carrier() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  thread_.join();
}

void Carrier::serve(int rank, void* mailbox) {
  const std::lock_guard lock(mutex_);
  served_.push_back({rank, mailbox});
}

void Carrier::stop_serving(void* mailbox) {
  const std::lock_guard lock(mutex_);
  std::erase_if(served_, [&](const Served& each) { return each.mailbox == mailbox; });
}

void Carrier::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void Carrier::release() {
  const std::lock_guard lock(mutex_);
  held_ = false;
}

bool Carrier::take(const Served& served) {
  tw_mailbox_chunk chunk{};
  chunk.size = sizeof chunk;
  EXPECT_EQ(tw_mailbox_offered(served.mailbox, &chunk), TW_OK) << tw_last_error();
  if (chunk.bytes == 0) return false;
  auto& block = blocks_[{chunk.call, chunk.block, static_cast<std::uint64_t>(chunk.rank + 1)}];
  EXPECT_EQ(block.size(), chunk.offset);
  const auto* const data = static_cast<const std::byte*>(chunk.data);
  block.insert(block.end(), data, data + chunk.bytes);
  EXPECT_LE(block.size(), chunk.block_bytes);
  EXPECT_EQ(tw_mailbox_taken(served.mailbox), TW_OK);
  ++chunks_;
  return true;
}

bool Carrier::give(const Served& served) {
  tw_mailbox_chunk chunk{};
  chunk.size = sizeof chunk;
  EXPECT_EQ(tw_mailbox_wanted(served.mailbox, &chunk), TW_OK) << tw_last_error();
  if (chunk.bytes == 0) return false;
  for (const int receiver : {served.rank, -1}) {
    const auto at =
        blocks_.find({chunk.call, chunk.block, static_cast<std::uint64_t>(receiver + 1)});
    if (at == blocks_.end() || at->second.size() < chunk.offset + chunk.bytes) continue;
    std::memcpy(chunk.data, at->second.data() + chunk.offset, chunk.bytes);
    EXPECT_EQ(tw_mailbox_given(served.mailbox), TW_OK);
    return true;
  }
  return false;
}

void Carrier::work() {
  while (true) {
    bool moved = false;
    {
      const std::lock_guard lock(mutex_);
      if (ends_) return;
      for (const Served& each : served_) {
        moved = take(each) || moved;
        if (!held_) moved = give(each) || moved;
      }
    }
    if (!moved) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace thinwire::slots
