// Kernels for codecs of fixed encoded size whose payloads are made and read a word at a time in
// registers: one thread block a chunk, one pass, and no copy of the payload in shared memory.
//
// An encoder is what its kernel is given besides the job, and has
//   kThreads     of a thread block, a multiple of kChecksumLanes
//   kResident    thread blocks that a multiprocessor should be able to hold
//   State        its shared memory, aligned to 8 bytes
//   encode(source, chunk, writer, state)   gives every word of the chunk's payload to the writer,
//                once; false for a thread that met data which the codec declines; may add
//                kMetIntegers to problems_of() the workspace
// and a decoder the same but for
//   decode(reader, chunk, state, destination)   asks the reader for every word of the payload once
#pragma once

#include "codec/cuda/checksum.cuh"
#include "codec/cuda/fixed_frame.cuh"
#include "codec/cuda/launch.h"

namespace thinwire::codec::cuda {

// Chunks of equal payloads of whole words, the last perhaps smaller.
struct WordChunks {
  std::uint64_t chunks;
  std::uint32_t chunk_bytes;
  std::uint32_t last_bytes;

  THINWIRE_HOST_DEVICE std::uint32_t bytes(std::uint64_t chunk) const {
    return chunk + 1 == chunks ? last_bytes : chunk_bytes;
  }
  THINWIRE_HOST_DEVICE std::uint64_t payload_bytes() const {
    return chunks == 0 ? 0 : (chunks - 1) * chunk_bytes + last_bytes;
  }
};

// As DeviceCodec has it, for any array and parameter.
inline std::uint64_t word_workspace_bytes(const Layout&, std::uint64_t) {
  return sizeof(FixedGrid);
}

// A thread's part of a payload's checksum. Words are best taken in rows of a word for each thread,
// the row being known to the compiler: their keys are one, and their weights are constants.
template <int kThreads>
class WordSum {
 public:
  __device__ WordSum() : key_(checksum_key(threadIdx.x % kChecksumLanes)) {}

  __device__ void add_row(std::uint32_t row, std::uint64_t word) {
    const std::uint64_t product = checksum_product(word, key_);
    products_ += product;
    rows_ += row * product;
  }
  __device__ void add(std::uint32_t at, std::uint64_t word) {
    others_ += checksum_product(word, checksum_key(at % kChecksumLanes)) *
               checksum_weight(at / kChecksumLanes);
  }
  __device__ std::uint64_t sum() const {
    constexpr std::uint64_t kBlocks = kThreads / kChecksumLanes;  // of the checksum, in a row
    return 2 * kBlocks * rows_ + checksum_weight(threadIdx.x / kChecksumLanes) * products_ +
           others_;
  }

 private:
  std::uint64_t key_;
  std::uint64_t products_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t others_ = 0;
};

template <int kThreads>
class WordWriter {
 public:
  __device__ explicit WordWriter(std::byte* payload) : payload_(payload) {}

  __device__ bool is_aligned() const { return reinterpret_cast<std::uintptr_t>(payload_) % 8 == 0; }
  // Word row * kThreads + threadIdx.x of a payload that is aligned.
  __device__ void put_row(std::uint32_t row, std::uint64_t word) {
    reinterpret_cast<std::uint64_t*>(payload_)[row * kThreads + threadIdx.x] = word;
    sum_.add_row(row, word);
  }
  __device__ void put(std::uint32_t at, std::uint64_t word) {
    store_word(payload_ + 8 * at, word);
    sum_.add(at, word);
  }
  __device__ std::uint64_t sum() const { return sum_.sum(); }

 private:
  std::byte* payload_;
  WordSum<kThreads> sum_;
};

template <int kThreads>
class WordReader {
 public:
  __device__ explicit WordReader(const std::byte* payload) : payload_(payload) {}

  __device__ const std::byte* payload() const { return payload_; }
  __device__ bool is_aligned() const { return reinterpret_cast<std::uintptr_t>(payload_) % 8 == 0; }
  __device__ std::uint64_t load_row(std::uint32_t row) const {
    return reinterpret_cast<const std::uint64_t*>(payload_)[row * kThreads + threadIdx.x];
  }
  __device__ void add_row(std::uint32_t row, std::uint64_t word) { sum_.add_row(row, word); }
  __device__ std::uint64_t get(std::uint32_t at) {
    const std::uint64_t word = load_word(payload_ + 8 * at);
    sum_.add(at, word);
    return word;
  }
  __device__ std::uint64_t sum() const { return sum_.sum(); }

 private:
  const std::byte* payload_;
  WordSum<kThreads> sum_;
};

// The end of a thread block, by one of its threads: true for that of the last one, and what all of
// them met; `problem` is what this one did. Says nothing of what others have written.
__device__ inline bool ends_words(std::byte* workspace, unsigned problem, unsigned& problems) {
  FixedGrid* const grid = grid_of(workspace);
  if (problem != 0) {
    atomicOr(&grid->problems, problem);
    __threadfence();
  }
  const unsigned last = gridDim.x - 1;
  if (atomicInc(&grid->arrived, last) != last) return false;
  __threadfence();
  problems = atomicExch(&grid->problems, 0u);
  return true;
}

__device__ inline void end_encoded_words(const EncodeJob& job, unsigned problem,
                                         std::uint64_t frame_bytes) {
  unsigned problems = 0;
  if (!ends_words(job.workspace, problem, problems)) return;
  if (problems == 0) return publish(job.outcome, StatusCode::kOk, frame_bytes);
  publish(job.outcome,
          (problems & kMetIntegers) != 0 ? StatusCode::kHoldsIntegers : StatusCode::kDeclined, 0);
}

// The first thread block writes the header, the others a chunk each. For frames below the limit.
template <typename Encoder>
__global__ void __launch_bounds__(Encoder::kThreads,
                                  resident(Encoder::kThreads, Encoder::kResident))
    encode_words(const __grid_constant__ EncodeJob job, const WordChunks chunks,
                 const Encoder encoder) {
  __shared__ __align__(8) typename Encoder::State state;
  __shared__ std::uint64_t sums[Encoder::kThreads / 32];
  const std::uint64_t body = job.layout.table_bytes() + chunks.payload_bytes();
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    write_header(job.header, body, job.frame);
    end_encoded_words(job, 0, job.header.bytes() + body);
    return;
  }
  const std::uint32_t chunk = blockIdx.x - 1;
  std::byte* const table = job.frame + job.header.bytes();
  WordWriter<Encoder::kThreads> writer(table + job.layout.table_bytes() +
                                       std::uint64_t{chunk} * chunks.chunk_bytes);
  const bool mine = encoder.encode(job.source, chunk, writer, state);
  if (job.checksums) sum_over_warp(writer.sum(), sums);
  const bool taken = __syncthreads_and(mine) != 0;
  if (threadIdx.x == 0) {
    end_encoded_words(job, taken ? 0 : kDeclinedData, job.header.bytes() + body);
  } else if (threadIdx.x == 32) {
    const std::uint32_t bytes = chunks.bytes(chunk);
    const std::uint64_t check = job.checksums ? checksum_finish(bytes, sum_of_warps(sums)) : 0;
    store_word(table + chunk * kTableRowBytes, check << 32 | bytes);
  }
}

// Ends a thread block's part of a decode, by one thread after a barrier: the fence covers what all
// its threads stored, and the last block's outcome says that the array is complete.
__device__ inline void end_decoded_words(const DecodeJob& job, unsigned problem) {
  __threadfence();
  unsigned problems = 0;
  if (!ends_words(job.workspace, problem, problems)) return;
  publish_with_writes(job.outcome, status_of(problems), 0);
}

// The first thread block looks at the header, the others have a chunk each. For frames that are
// long enough for their payloads, which follow from the shape.
template <typename Decoder>
__global__ void __launch_bounds__(Decoder::kThreads,
                                  resident(Decoder::kThreads, Decoder::kResident))
    decode_words(const __grid_constant__ DecodeJob job, const WordChunks chunks,
                 const Decoder decoder) {
  __shared__ std::uint64_t sums[Decoder::kThreads / 32];
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    const auto status =
        static_cast<unsigned>(frame_status(job, job.frame, false, chunks.payload_bytes()));
    end_decoded_words(job, status << kHeaderStatusShift);
    return;
  }
  const std::uint32_t chunk = blockIdx.x - 1;
  const std::byte* const table = job.frame + job.header.bytes();
  const std::uint64_t row = threadIdx.x == 0 ? load_word(table + chunk * kTableRowBytes) : 0;
  WordReader<Decoder::kThreads> reader(table + job.layout.table_bytes() +
                                       std::uint64_t{chunk} * chunks.chunk_bytes);
  decoder.decode(reader, chunk, job.destination);
  if (job.checksums) sum_over_warp(reader.sum(), sums);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::uint32_t bytes = chunks.bytes(chunk);
  bool sound = static_cast<std::uint32_t>(row) == bytes;
  if (job.checksums) {
    const std::uint64_t check = checksum_finish(bytes, sum_of_warps(sums));
    sound = sound && row >> 32 == static_cast<std::uint32_t>(check);
  }
  end_decoded_words(job, sound ? 0 : kDamagedChunk);
}

// Both return after the kernel is enqueued.
template <typename Encoder>
Status launch_words_encode(const EncodeJob& job, const WordChunks& chunks, const Encoder& encoder) {
  const std::uint64_t body = job.layout.table_bytes() + chunks.payload_bytes();
  if (chunks.chunks >= INT32_MAX) {
    return {StatusCode::kUnsupported, "the array is too large for one launch"};
  }
  if (chunks.chunks == 0 || job.header.bytes() + body >= job.limit) {
    return launch(encode_nothing, {1, 1}, job.stream, job, body);
  }
  return launch(encode_words<Encoder>, {chunks.chunks + 1, Encoder::kThreads}, job.stream, job,
                chunks, encoder);
}

template <typename Decoder>
Status launch_words_decode(const DecodeJob& job, const WordChunks& chunks, const Decoder& decoder) {
  const std::uint64_t needed =
      job.header.bytes() + job.layout.table_bytes() + chunks.payload_bytes();
  if (chunks.chunks >= INT32_MAX) {
    return {StatusCode::kUnsupported, "the array is too large for one launch"};
  }
  if (chunks.chunks == 0 || job.length < needed) {
    return launch(decode_nothing, {1, 1}, job.stream, job, chunks.payload_bytes());
  }
  return launch(decode_words<Decoder>, {chunks.chunks + 1, Decoder::kThreads}, job.stream, job,
                chunks, decoder);
}

}  // namespace thinwire::codec::cuda
