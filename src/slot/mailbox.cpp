#include "slot/mailbox.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

namespace thinwire::slot {
namespace {

using Counter = std::atomic_ref<std::uint64_t>;

std::uint64_t seen(const std::uint64_t& word) {
  return Counter(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}
void move(std::uint64_t& word, std::uint64_t to) {
  Counter(word).store(to, std::memory_order_release);
}

// Gives the processor to others soon, as it may be for milliseconds.
class Patience {
 public:
  void wait() {
    if (++turns_ < kTurnsBeforeSleep) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(kSleep);
    }
  }

 private:
  static constexpr int kTurnsBeforeSleep = 100;
  static constexpr auto kSleep = std::chrono::microseconds(50);
  int turns_ = 0;
};

bool await_host(const Mailbox& mailbox, const MailboxWay& way, std::uint64_t number) {
  Patience patience;
  while (seen(way.by_host) != number) {
    if (seen(mailbox.aborted) != 0) return false;
    patience.wait();
  }
  return seen(mailbox.aborted) == 0;
}

// Announces a chunk, what comes with it having been written.
std::uint64_t announce(MailboxWay& way, const MailChunk& chunk) {
  way.chunk = chunk;
  const std::uint64_t number = way.by_stream + 1;
  move(way.by_stream, number);
  return number;
}

}  // namespace

Status open_mailbox(void* memory, std::uint64_t bytes) {
  if (bytes < Mailbox::kLeastBytes) {
    return {StatusCode::kTooSmall, "a mailbox needs at least 2048 bytes"};
  }
  if (reinterpret_cast<std::uintptr_t>(memory) % kLineBytes != 0) {
    return {StatusCode::kInvalidArgument, "a mailbox must be aligned to 64 bytes"};
  }
  auto* const mailbox = new (memory) Mailbox;
  mailbox->chunk_bytes = (bytes - Mailbox::kControlBytes) / 2 / kLineBytes * kLineBytes;
  move(mailbox->mark, Mailbox::kMark);
  return {};
}

bool is_mailbox(const void* memory) {
  return memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % kLineBytes == 0 &&
         seen(static_cast<const Mailbox*>(memory)->mark) == Mailbox::kMark;
}

bool under_way(const Mailbox& mailbox, const MailboxWay& way, MailChunk* chunk) {
  if (seen(mailbox.aborted) != 0) return false;
  // Only the caller moves what the host has done.
  const std::uint64_t done = seen(way.by_host);
  if (seen(way.by_stream) == done) return false;
  *chunk = way.chunk;
  return true;
}

Status finish_chunk(MailboxWay& way) {
  const std::uint64_t done = seen(way.by_host);
  if (seen(way.by_stream) == done) {
    return {StatusCode::kInvalidArgument, "no chunk is under way in this mailbox"};
  }
  move(way.by_host, done + 1);
  return {};
}

void abort_mailbox(Mailbox& mailbox) { move(mailbox.aborted, 1); }

bool put_block(Mailbox& mailbox, MailChunk chunk, const std::byte* values) {
  for (chunk.offset = 0; chunk.offset < chunk.block_bytes; chunk.offset += chunk.bytes) {
    if (seen(mailbox.aborted) != 0) return false;
    chunk.bytes = std::min(mailbox.chunk_bytes, chunk.block_bytes - chunk.offset);
    std::memcpy(mailbox.out_data(), values + chunk.offset, chunk.bytes);
    if (!await_host(mailbox, mailbox.out, announce(mailbox.out, chunk))) return false;
  }
  return true;
}

bool take_block(Mailbox& mailbox, MailChunk chunk, std::byte* values) {
  for (chunk.offset = 0; chunk.offset < chunk.block_bytes; chunk.offset += chunk.bytes) {
    if (seen(mailbox.aborted) != 0) return false;
    chunk.bytes = std::min(mailbox.chunk_bytes, chunk.block_bytes - chunk.offset);
    if (!await_host(mailbox, mailbox.in, announce(mailbox.in, chunk))) return false;
    std::memcpy(values + chunk.offset, mailbox.in_data(), chunk.bytes);
  }
  return true;
}

}  // namespace thinwire::slot
