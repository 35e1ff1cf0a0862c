// The stream's side of a mailbox in kernels, by all threads of one block; mailbox.h has the
// host's.
#pragma once

#include "slot/mailbox.h"

namespace thinwire::slot {

__device__ inline std::uint64_t seen(const std::uint64_t& word) {
  return *static_cast<const volatile std::uint64_t*>(&word);
}

// Announces a chunk, whose data the block has written, and waits for the host. False if the
// mailbox was aborted.
__device__ inline bool announce_and_await(Mailbox& mailbox, MailboxWay& way,
                                          const MailChunk& chunk) {
  __shared__ bool goes_on;
  __threadfence_system();  // each thread's own part of the data
  __syncthreads();
  if (threadIdx.x == 0) {
    way.chunk = chunk;
    const std::uint64_t number = way.by_stream + 1;
    __threadfence_system();
    *static_cast<volatile std::uint64_t*>(&way.by_stream) = number;
    bool aborted = seen(mailbox.aborted) != 0;
    while (!aborted && seen(way.by_host) != number) {
      __nanosleep(2000);
      aborted = seen(mailbox.aborted) != 0;
    }
    __threadfence_system();
    goes_on = !aborted;
  }
  __syncthreads();
  return goes_on;
}

// Copies by all threads, from or to pinned memory; `from` and `to` may lie at any address.
__device__ inline void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  const auto both = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  std::uint64_t done = 0;
  if (both % sizeof(uint4) == 0) {
    const std::uint64_t units = bytes / sizeof(uint4);
    for (std::uint64_t at = threadIdx.x; at < units; at += blockDim.x) {
      // Bytes that the host writes while the kernel runs must not come out of a cache.
      reinterpret_cast<uint4*>(to)[at] = __ldcv(reinterpret_cast<const uint4*>(from) + at);
    }
    done = units * sizeof(uint4);
  } else if (both % sizeof(std::uint16_t) == 0) {
    const std::uint64_t units = bytes / sizeof(std::uint16_t);
    for (std::uint64_t at = threadIdx.x; at < units; at += blockDim.x) {
      reinterpret_cast<std::uint16_t*>(to)[at] =
          __ldcv(reinterpret_cast<const std::uint16_t*>(from) + at);
    }
    done = units * sizeof(std::uint16_t);
  }
  for (std::uint64_t at = done + threadIdx.x; at < bytes; at += blockDim.x) {
    to[at] = static_cast<const volatile std::byte*>(from)[at];
  }
}

__device__ inline bool put_in_mailbox(Mailbox& mailbox, MailChunk chunk, const std::byte* values) {
  for (chunk.offset = 0; chunk.offset < chunk.block_bytes; chunk.offset += chunk.bytes) {
    chunk.bytes = min(mailbox.chunk_bytes, chunk.block_bytes - chunk.offset);
    copy_bytes(mailbox.out_data(), values + chunk.offset, chunk.bytes);
    if (!announce_and_await(mailbox, mailbox.out, chunk)) return false;
  }
  return true;
}

__device__ inline bool take_from_mailbox(Mailbox& mailbox, MailChunk chunk, std::byte* values) {
  for (chunk.offset = 0; chunk.offset < chunk.block_bytes; chunk.offset += chunk.bytes) {
    chunk.bytes = min(mailbox.chunk_bytes, chunk.block_bytes - chunk.offset);
    if (!announce_and_await(mailbox, mailbox.in, chunk)) return false;
    copy_bytes(values + chunk.offset, mailbox.in_data(), chunk.bytes);
    __syncthreads();  // before the next chunk may be asked for
  }
  return true;
}

}  // namespace thinwire::slot
