// Small work in stream order. Each returns after it is enqueued, waits for nothing, and may be
// captured into a graph. The stream's device is the thread's current one (ContextGuard).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "device/stream.h"

namespace thinwire::device {

// Between any two places that the device reaches; nothing if both are one.
Status enqueue_copy(std::byte* to, const std::byte* from, std::uint64_t bytes, StreamHandle stream);

// The same of rows of `row_bytes`, which lie `to_step` and `from_step` bytes apart, and overlap
// nowhere.
Status enqueue_copy_rows(std::byte* to, std::uint64_t to_step, const std::byte* from,
                         std::uint64_t from_step, std::uint64_t row_bytes, std::uint64_t rows,
                         StreamHandle stream);

// function(argument) on a thread of CUDA's; it must not call CUDA, nor wait.
Status enqueue_host(void (*function)(void*), void* argument, StreamHandle stream);

// Zeros.
Status enqueue_clear(std::byte* at, std::uint64_t bytes, StreamHandle stream);

// The device's time when the stream comes by, in nanoseconds and above 0, to `to`, pinned memory.
Status enqueue_time(std::uint64_t* to, StreamHandle stream);

}  // namespace thinwire::device
