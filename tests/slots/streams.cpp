// Streams of the tests, and the carrier of their mailboxes.
#include "streams.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>

namespace thinwire::slots {

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    held_ = false;
  }
  changed_.notify_all();
  thread_.join();
}

void Stream::put(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void Stream::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty(); });
}

void Stream::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void Stream::release() {
  {
    const std::lock_guard lock(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return (ends_ && tasks_.empty()) || (!held_ && !tasks_.empty()); });
    if (tasks_.empty()) return;
    const std::function<void()>& task = tasks_.front();  // a deque leaves it in its place
    lock.unlock();
    task();
    lock.lock();
    tasks_.pop_front();
    changed_.notify_all();
  }
}

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
