// The frame of an array that may miss values, out of its masks and the codec's frame.
#include "message/fills/header.cuh"

namespace thinwire::message::fills {
namespace {

// A chunk's payload, as the codec's row of the chunk table and the mask have it.
struct Payload {
  std::uint32_t bytes;  // in all
  std::uint32_t coded;  // the codec's, after the mask
  bool is_raw;
};

__device__ Payload payload_of(const EncodeWork& work, std::uint64_t index) {
  const std::uint64_t table = work.header.bytes();
  const auto row =
      static_cast<std::uint32_t>(load_word(work.plain + table + index * codec::kTableRowBytes));
  const ChunkMask mask = work.masks[index];
  const bool is_raw = (row & codec::kRawChunk) != 0;
  const std::uint32_t coded = row & codec::kMostChunkBytes;
  if (mask.bytes == 0) return {coded, coded, is_raw};
  if (mask.kind == ChunkMask::kAll) return {mask.bytes, 0, false};
  const std::uint32_t raw = work.layout.box(index).count() *
                            static_cast<std::uint32_t>(dtype_size(work.layout.array.dtype));
  if (is_raw || mask.bytes + coded >= raw) return {raw, raw, true};
  return {mask.bytes + coded, coded, false};
}

// Says where the payloads lie, and writes header and outcome. One thread block.
__global__ void __launch_bounds__(kThreads) place(const __grid_constant__ EncodeWork work) {
  __shared__ Scratch scratch;
  State& state = *work.state;
  StatusCode status = codec_status(state);
  if (state.integers != 0) status = StatusCode::kHoldsIntegers;
  std::uint64_t payloads = 0;
  if (status == StatusCode::kOk) {
    const std::uint64_t chunks = work.layout.chunks;
    place_all(chunks, work.plain_at, scratch, [&](std::uint64_t index) {
      const std::byte* const row = work.plain + work.header.bytes() + index * codec::kTableRowBytes;
      return load_word(row) & codec::kMostChunkBytes;
    });
    payloads = place_all(chunks, work.holed_at, scratch,
                         [&](std::uint64_t index) { return payload_of(work, index).bytes; });
  }
  if (threadIdx.x != 0) return;
  HoledHeader header = make_header(work.header, state);
  const std::uint64_t body = work.layout.table_bytes() + payloads;
  if (status == StatusCode::kOk && header.bytes() + body >= work.limit) {
    status = StatusCode::kDeclined;
  }
  state.status = static_cast<unsigned>(status);
  codec::cuda::publish_with_writes(work.outcome, status,
                                   status == StatusCode::kOk ? header.bytes() + body : 0);
  if (status != StatusCode::kOk) return;
  // An open parameter has become this.
  header.word[frame::kParameterWord] = load_word(work.plain + 8 * frame::kParameterWord);
  header.word[frame::kBodyBytesWord] = body;
  header.word[frame::kChecksumWord] = header.checksum();
  for (int at = 0; at < header.count; ++at) store_word(work.frame + 8 * at, header.word[at]);
}

// Writes a length; returns the bytes.
__device__ std::uint32_t put_length(std::byte* out, std::uint32_t length) {
  std::uint32_t bytes = 0;
  for (; length > 0x7F; length >>= 7) out[bytes++] = static_cast<std::byte>(0x80 | (length & 0x7F));
  out[bytes++] = static_cast<std::byte>(length);
  return bytes;
}

// For whole thread blocks.
__device__ void write_runs(const std::uint32_t* bits, std::uint32_t values, std::byte* out,
                           Scratch& scratch) {
  const std::uint32_t words = words_of(values);
  std::uint32_t last = 0, written = 0;
  for (std::uint32_t base = 0; base < words; base += kThreads) {
    const std::uint32_t word = base + threadIdx.x;
    const std::uint32_t turns = word < words ? turns_of(bits, word, values) : 0;
    const auto most =
        most_before_thread(turns != 0 ? 32 * word + highest_bit(turns) : 0, scratch.most);
    const std::uint32_t first = most.before > last ? most.before : last;
    unsigned own = 0;
    std::uint32_t from = first;
    for (std::uint32_t rest = turns; rest != 0; rest &= rest - 1) {
      const std::uint32_t at = 32 * word + lowest_bit(rest);
      own += length_bytes(at - from);
      from = at;
    }
    const auto sums = sum_before_thread<kThreads>(own, scratch.counts);
    std::byte* to = out + written + sums.before;
    from = first;
    for (std::uint32_t rest = turns; rest != 0; rest &= rest - 1) {
      const std::uint32_t at = 32 * word + lowest_bit(rest);
      to += put_length(to, at - from);
      from = at;
    }
    written += sums.total;
    last = most.total > last ? most.total : last;
    __syncthreads();
  }
  if (threadIdx.x == 0) put_length(out + written, values - last);
}

__device__ void write_mask(const ChunkMask& mask, const std::uint32_t* bits, std::uint32_t values,
                           std::byte* out, Scratch& scratch) {
  if (threadIdx.x == 0) out[0] = static_cast<std::byte>(mask.kind);
  if (mask.kind == ChunkMask::kRuns) write_runs(bits, values, out + 1, scratch);
  if (mask.kind != ChunkMask::kBits) return;
  for (std::uint32_t at = threadIdx.x; at < mask_bytes_of(values); at += kThreads) {
    out[1 + at] = static_cast<std::byte>(bits[at / 4] >> 8 * (at % 4));
  }
}

// A chunk's payload, and its row of the chunk table.
template <Dtype kDtype>
__global__ void __launch_bounds__(kThreads) write_chunk(const __grid_constant__ EncodeWork work) {
  using Word = WordOf<kDtype>;
  __shared__ Scratch scratch;
  if (status_of(*work.state) != StatusCode::kOk) return;
  const std::uint64_t index = blockIdx.x;
  const auto piece = codec::cuda::piece_of<sizeof(Word)>(work.layout, index, work.source);
  const Payload payload = payload_of(work, index);
  const ChunkMask mask = work.masks[index];
  std::byte* const table =
      work.frame + work.header.bytes() + (work.state->has_fill != 0 ? frame::kFillBytes : 0);
  std::byte* const out = table + work.layout.table_bytes() + work.holed_at[index];
  if (payload.is_raw) {
    for (std::uint32_t at = threadIdx.x; at < piece.values; at += kThreads) {
      store_value(out + at * sizeof(Word),
                  load_value<Word>(piece.template place<sizeof(Word)>(at)));
    }
  } else {
    if (mask.bytes != 0) {
      write_mask(mask, work.bits + index * work.words, piece.values, out, scratch);
    }
    const std::byte* const coded =
        work.plain + work.header.bytes() + work.layout.table_bytes() + work.plain_at[index];
    copy_bytes(out + mask.bytes, coded, payload.coded);
  }
  __syncthreads();
  const std::uint64_t sum = work.checksums ? checksum_of(out, payload.bytes, scratch.sums) : 0;
  if (threadIdx.x != 0) return;
  const std::uint32_t row = payload.bytes | (payload.is_raw ? codec::kRawChunk : 0);
  store_word(table + index * codec::kTableRowBytes, sum << 32 | row);
}

}  // namespace

Status enqueue_join(const EncodeWork& work, device::StreamHandle stream) {
  Status status = launch_one(place, stream, work);
  if (!status.ok()) return status;
  return with_float_dtype(work.layout.array.dtype, [&](auto kDtype) {
    return launch_chunks(write_chunk<kDtype>, work, stream, work);
  });
}

}  // namespace thinwire::message::fills
