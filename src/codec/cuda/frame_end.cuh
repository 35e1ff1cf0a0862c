// How kernels end a frame: the last thread block, the header, the outcome.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/cuda/any_alignment.cuh"
#include "codec/job.h"
#include "device/stream.h"
#include "frame/seal.h"

namespace thinwire::codec::cuda {

// For every thread of the thread block that is the last of `blocks` to call this with `counter`,
// true: it then sees what all threads of the others wrote before. The counter is 0 before the first
// call and after the last. For whole thread blocks.
__device__ inline bool arrives_last(unsigned* counter, unsigned blocks) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicInc(counter, blocks - 1) == blocks - 1;
    __threadfence();
  }
  __syncthreads();
  return is_last;
}

// Tells the host, or whoever reads the word in stream order. One thread.
__device__ inline void publish(device::Outcome* outcome, StatusCode status, std::uint64_t bytes) {
  *static_cast<volatile device::Outcome*>(outcome) = device::make_outcome(status, bytes);
}

// The same, and who sees the outcome sees all that this thread has seen written.
__device__ inline void publish_with_writes(device::Outcome* outcome, StatusCode status,
                                           std::uint64_t bytes) {
  __threadfence_system();
  publish(outcome, status, bytes);
}

// Seals `header` over a body of `body_bytes` and writes it at `frame`. One thread.
__device__ inline void write_header(const frame::HeaderWords& header, std::uint64_t body_bytes,
                                    std::byte* frame) {
  frame::HeaderWords sealed;
  sealed.count = header.count;
#pragma unroll
  for (int at = 0; at < frame::kMaxHeaderWords; ++at) sealed.word[at] = header.word[at];
  frame::seal(sealed, body_bytes);
#pragma unroll
  for (int at = 0; at < frame::kMaxHeaderWords; ++at) {
    if (at < static_cast<int>(sealed.count)) store_word(frame + 8 * at, sealed.word[at]);
  }
}

// Ends an encode, by one thread that knows the body's size: a frame below the limit gets its
// header, if it has room, a longer one is declined. The outcome is published before the header is
// written: the host waits for the size, while readers of the frame are enqueued after this kernel.
__device__ inline void end_frame(const frame::HeaderWords& header, std::uint64_t body_bytes,
                                 std::uint64_t limit, std::byte* frame, device::Outcome* outcome,
                                 std::uint64_t room = UINT64_MAX) {
  const std::uint64_t frame_bytes = header.bytes() + body_bytes;
  if (frame_bytes >= limit) {
    publish(outcome, StatusCode::kDeclined, 0);
    return;
  }
  publish(outcome, StatusCode::kOk, frame_bytes);
  if (header.bytes() <= room) write_header(header, body_bytes, frame);
}

// Whether the `length` bytes at `frame` begin with `expected`, sealed over any body that fits; the
// body's size then. The parameter may be any if it is open. One thread.
__device__ inline StatusCode check_header(const std::byte* frame, std::uint64_t length,
                                          const frame::HeaderWords& expected, bool open,
                                          std::uint64_t* body_bytes) {
  if (length < expected.bytes()) return StatusCode::kDamaged;
  frame::HeaderWords found;
  found.count = expected.count;
  bool same = true;
#pragma unroll
  for (int at = 0; at < frame::kMaxHeaderWords; ++at) {
    found.word[at] = at < static_cast<int>(expected.count) ? load_word(frame + 8 * at) : 0;
    const bool compared = at < static_cast<int>(expected.count) && at != frame::kBodyBytesWord &&
                          at != frame::kChecksumWord && !(open && at == frame::kParameterWord);
    if (compared && found.word[at] != expected.word[at]) {
      if (at < 2) return StatusCode::kNotAFrame;
      same = false;
    }
  }
  *body_bytes = found.word[frame::kBodyBytesWord];
  if (!same || found.word[frame::kChecksumWord] != frame::header_checksum(found) ||
      *body_bytes > length - expected.bytes()) {
    return StatusCode::kDamaged;
  }
  return StatusCode::kOk;
}

// Checks that `frame`, one of the job's, has the expected header, and that its body is as long as
// the chunk table and `payload_bytes` together. For one thread.
__device__ inline StatusCode frame_status(const DecodeJob& job, const std::byte* frame, bool open,
                                          std::uint64_t payload_bytes) {
  std::uint64_t body = 0;
  const StatusCode status = check_header(frame, job.length, job.header, open, &body);
  if (status != StatusCode::kOk) return status;
  return body == job.layout.table_bytes() + payload_bytes ? StatusCode::kOk : StatusCode::kDamaged;
}

}  // namespace thinwire::codec::cuda
