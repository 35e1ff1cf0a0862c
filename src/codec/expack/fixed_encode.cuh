// Encoding whole chunks of bf16 in mode `fixed`. A warp keeps what it makes of a stretch in
// registers until it knows where that goes in the frame, so that a thread block needs memory for
// the values of its next chunk and for raw exponents alone. Other chunks are encoded in that
// memory, as encode.cuh does; spec/codec-expack.md.
#pragma once

#include "codec/expack/fixed_memory.cuh"

namespace thinwire::codec::expack {

// Encodes a frame's chunks of which a thread block takes one after the other.
class FixedEncoder {
 public:
  __device__ FixedEncoder(const EncodeJob& job, const cuda::BlockPlace& at,
                          FixedEncodeShared& shared)
      : job_(job), at_(at), shared_(shared), tickets_(at.workspace, job.layout.chunks) {}

  __device__ void encode_all() const;

 private:
  __device__ Path encode_in_registers(std::uint64_t index, std::uint64_t& next) const;
  __device__ void finish(std::uint64_t index, std::uint64_t next, const FixedCodes& coded,
                         const StretchBases& known, std::uint32_t up_to) const;
  __device__ void start_values(std::uint64_t index) const;
  __device__ void put_raws(const FixedCodes& coded, std::uint32_t first, std::uint32_t all) const;
  __device__ void put_chunk(std::uint64_t index, std::uint32_t raws, const LaneWords& words,
                            std::uint64_t sum) const;
  __device__ std::uint64_t put_rest(std::uint32_t raws, std::uint64_t* payload) const;

  __device__ bool is_whole(std::uint64_t index) const {
    return (index + 1) * kWholeValues <= job_.layout.axes.x;
  }

  const EncodeJob& job_;
  const cuda::BlockPlace& at_;
  FixedEncodeShared& shared_;
  cuda::Tickets tickets_;
  unsigned lane_ = threadIdx.x % 32;
  unsigned warp_ = threadIdx.x / 32;
};

// Begins to copy a chunk's values, if it is whole. Each lane copies what it reads later.
__device__ inline void FixedEncoder::start_values(std::uint64_t index) const {
  if (index >= job_.layout.chunks || !is_whole(index)) return;
  const auto* const from = reinterpret_cast<const uint4*>(at_.from + index * kChunkBytes) +
                           warp_ * kWholeRows * kRowGroups + lane_;
#pragma unroll
  for (int row = 0; row < kWholeRows; ++row) {
    __pipeline_memcpy_async(&shared_.groups[warp_][row * kRowGroups + lane_],
                            from + row * kRowGroups, sizeof(uint4));
  }
  __pipeline_commit();
}

// The lane's raw exponents, of which the chunk has `all`, to shared memory.
__device__ inline void FixedEncoder::put_raws(const FixedCodes& coded, std::uint32_t first,
                                              std::uint32_t all) const {
  auto* const raws = reinterpret_cast<std::uint8_t*>(shared_.raws);
  std::uint8_t* to = raws + first;
#pragma unroll
  for (int four = 0; four < kWholeRows / 4; ++four) {
    const auto* const groups = reinterpret_cast<const std::uint16_t*>(
        shared_.groups[warp_] + 4 * four * kRowGroups + lane_);
    for (std::uint32_t left = coded.raw[four]; left != 0; left &= left - 1) {
      const std::uint32_t place = __ffs(static_cast<int>(left)) - 1;
      const std::uint32_t value = groups[place / kGroupValues * kRowValues + place % kGroupValues];
      *to++ = static_cast<std::uint8_t>(value >> Format<Dtype::kBf16>::kShift);
    }
  }
  if (threadIdx.x < filled_up(all) - all) raws[all + threadIdx.x] = 0;
}

// Writes raw exponents and the head, if there is a payload, and returns what they add to the
// checksum in a lane. One warp.
__device__ inline std::uint64_t FixedEncoder::put_rest(std::uint32_t raws,
                                                       std::uint64_t* payload) const {
  std::uint64_t sum = 0;
  for (std::uint32_t at = lane_; at < filled_up(raws) / 8; at += 32) {
    const std::uint64_t word = shared_.raws[at];
    if (payload != nullptr) payload[kRawWord + at] = word;
    sum += weighted(word, kRawWord + at);
  }
  if (lane_ < kBasesWord) {
    const std::uint64_t word = reinterpret_cast<const std::uint64_t*>(shared_.head)[lane_];
    if (payload != nullptr) payload[lane_] = word;
    sum += weighted(word, lane_);
  }
  return sum;
}

// Writes a chunk and its row of the chunk table. `sum` is what the lane's words add to the
// checksum; the last warp adds what is left.
__device__ inline void FixedEncoder::put_chunk(std::uint64_t index, std::uint32_t raws,
                                               const LaneWords& words, std::uint64_t sum) const {
  const std::uint32_t bytes = kFixedParts.raw + filled_up(raws);
  std::byte* const table = at_.to + job_.header.bytes();
  const std::uint64_t room = at_.room - job_.header.bytes();
  const std::uint64_t first = job_.layout.table_bytes() + shared_.offset;
  const bool fits = first + bytes <= room;
  auto* const payload = fits ? reinterpret_cast<std::uint64_t*>(table + first) : nullptr;
  if (fits) put_words(words, warp_, lane_, payload);
  if (warp_ != kStretches - 1) return;
  sum += put_rest(raws, payload);
  if (job_.checksums) cuda::sum_over_warp(sum, shared_.sums);
  const std::uint64_t row = index * kTableRowBytes;
  if (lane_ != 0 || row + kTableRowBytes > room) return;
  std::uint64_t all = 0;
#pragma unroll
  for (int other = 0; other < kStretches; ++other) all += shared_.sums[other];
  const std::uint64_t checksum = job_.checksums ? checksum_finish(bytes, all) : 0;
  *reinterpret_cast<std::uint64_t*>(table + row) = checksum << 32 | bytes;
}

// The part that follows the sums over the chunk. `up_to`: raw exponents of the stretch up to the
// lane's last one. Has a barrier.
__device__ inline void FixedEncoder::finish(std::uint64_t index, std::uint64_t next,
                                            const FixedCodes& coded, const StretchBases& known,
                                            std::uint32_t up_to) const {
  const Shares totals(shared_.totals);
  const std::uint32_t raws = totals.all & 0xFFFF;
  const std::uint32_t bytes = kFixedParts.raw + filled_up(raws);
  if (threadIdx.x == 0) say_size(job_, at_, tickets_, index, bytes);
  put_raws(coded, (totals.before & 0xFFFF) + up_to - coded.raws(), raws);
  start_values(next);
  if (lane_ == 0) {
    const unsigned kind = takes_zeros(known.zeros, kStretchValues) ? kZerosBit : 0;
    shared_.head[warp_] = head_word(kind, (warp_ + 1) * kStretchValues, totals.end & 0xFFFF);
  }
  const LaneWords words = words_of(coded, known, lane_);
  std::uint64_t sum = 0;
  if (job_.checksums) {
    sum = sum_of_lane(words, warp_, lane_);
    if (warp_ != kStretches - 1) cuda::sum_over_warp(sum, shared_.sums);
  }
  if (warp_ == 0) {
    const std::uint64_t before = cuda::look_back(cuda::words_of(at_.workspace), index, bytes);
    if (lane_ == 0) shared_.offset = before;
  }
  __syncthreads();
  put_chunk(index, raws, words, sum);
}

// Encodes a whole chunk in registers, unless it takes another path, and begins to copy the values
// of `next`, the chunk that the thread block has then. That is asked for late, when blocks that
// have just begun have their first ones. Has barriers.
__device__ inline Path FixedEncoder::encode_in_registers(std::uint64_t index,
                                                         std::uint64_t& next) const {
  __pipeline_wait_prior(0);
  const uint4* const groups = shared_.groups[warp_] + lane_;
  const StretchBases known = find_bases(groups);
  unsigned ticket = 0;  // of the first thread
  if (threadIdx.x == 0 && !tickets_.one_each()) ticket = tickets_.ask_for_next();
  FixedCodes coded;
  if (__builtin_expect(takes_zeros(known.zeros, kStretchValues), false)) {
    code_stretch<true>(groups, known, coded);
  } else {
    code_stretch<false>(groups, known, coded);
  }
  const std::uint32_t up_to = cuda::sum_up_to_lane(coded.raws());
  if (lane_ == 31) shared_.totals[warp_] = up_to | known.zeros << 16;
  if (threadIdx.x == 0) shared_.next = tickets_.asked_for(ticket);
  __syncthreads();
  next = shared_.next;
  const Path path = path_of(Shares(shared_.totals).all);
  if (path == Path::kInRegisters) finish(index, next, coded, known, up_to);
  return path;
}

// Chunks until there are no more.
__device__ inline void FixedEncoder::encode_all() const {
  std::uint64_t index = tickets_.first(shared_.offset);
  start_values(index);
  while (index < job_.layout.chunks) {
    Path path = Path::kNotWhole;
    std::uint64_t next = job_.layout.chunks;
    if (is_whole(index)) path = encode_in_registers(index, next);
    if (__builtin_expect(path != Path::kInRegisters, false)) {
      encode_in_memory(job_, at_, index, path, shared_);
      __syncthreads();
      start_values(next);
    }
    index = next;
  }
}

__device__ inline void FixedCoder::encode_chunks(const EncodeJob& job, const cuda::BlockPlace& at,
                                                 FixedEncodeShared& shared) {
  FixedEncoder(job, at, shared).encode_all();
}

}  // namespace thinwire::codec::expack
