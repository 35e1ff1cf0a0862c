// What a received message is, and its decoding.
#pragma once

#include <atomic>
#include <cstdint>

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

// Whether the bytes are a frame of this job; then also its raw size. A frame whose header is
// damaged has its mark all the same, and is no data of the program's.
enum class Kind { kRaw, kFrame, kDamaged };
Kind examine(const void* wire, std::uint64_t bytes, std::uint64_t* raw_bytes);

// Notes that a message of `bytes` bytes cannot be decoded because there is no memory to do it in.
// Returns MPI's error, not raised.
int lack_memory(std::uint64_t bytes);
extern std::atomic<std::uint64_t> messages_without_memory;

// Decodes into `out`. What is wrong with the frame itself is logged and counted.
tw_status decode(const void* wire, std::uint64_t bytes, void* out, std::uint64_t capacity);

}  // namespace thinwire::mpi
