// A frame that may miss values, parted into masks and a frame of the codec's.
#include "message/fills/header.cuh"

namespace thinwire::message::fills {
namespace {

__device__ void damage(State& state) {
  atomicMax(&state.status, static_cast<unsigned>(StatusCode::kDamaged));
}

__device__ std::uint64_t head_bytes(const DecodeWork& work) {
  return work.header.bytes() + (work.state->has_fill != 0 ? frame::kFillBytes : 0);
}

__device__ std::uint32_t row_of(const std::byte* table, std::uint64_t index) {
  return static_cast<std::uint32_t>(load_word(table + index * codec::kTableRowBytes));
}

// Reads the header into the state. One thread.
__device__ StatusCode read_header(const DecodeWork& work, State& state, std::uint64_t* body) {
  const frame::HeaderWords& expected = work.header;
  if (work.length < expected.bytes()) return StatusCode::kDamaged;
  HoledHeader found{};
  found.count = static_cast<int>(expected.count);
  for (int at = 0; at < 2; ++at) {
    if (load_word(work.frame + 8 * at) != expected.word[at]) return StatusCode::kNotAFrame;
  }
  const std::uint64_t kinds = load_word(work.frame + 8 * kKindsWord);
  const bool has_fill = kinds == kinds_with_fill(expected.word[kKindsWord]);
  if (!has_fill && kinds != expected.word[kKindsWord]) return StatusCode::kDamaged;
  if (has_fill) ++found.count;
  if (work.length < found.bytes()) return StatusCode::kDamaged;
  bool same = true;
  for (int at = 0; at < found.count; ++at) {
    found.word[at] = load_word(work.frame + 8 * at);
    const bool is_own = at == kKindsWord || at == frame::kBodyBytesWord ||
                        at == frame::kChecksumWord || at >= static_cast<int>(expected.count) ||
                        (work.open && at == frame::kParameterWord);
    same = same && (is_own || found.word[at] == expected.word[at]);
  }
  *body = found.word[frame::kBodyBytesWord];
  if (!same || found.word[frame::kChecksumWord] != found.checksum()) return StatusCode::kDamaged;
  if (*body > work.length - found.bytes() || *body < work.layout.table_bytes()) {
    return StatusCode::kDamaged;
  }
  const auto value_bits = static_cast<unsigned>(8 * dtype_size(work.layout.array.dtype));
  const std::uint64_t fill = has_fill ? found.word[found.count - 1] : 0;
  if (value_bits < 64 && fill >> value_bits != 0) return StatusCode::kDamaged;
  state.has_fill = has_fill ? 1 : 0;
  state.fill = fill;
  state.parameter = found.word[frame::kParameterWord];
  return StatusCode::kOk;
}

// The header, and where the payloads lie. One thread block.
__global__ void __launch_bounds__(kThreads) read_table(const __grid_constant__ DecodeWork work) {
  __shared__ Scratch scratch;
  __shared__ StatusCode status;
  __shared__ std::uint64_t body;
  State& state = *work.state;
  if (threadIdx.x == 0) {
    status = read_header(work, state, &body);
    state.status = static_cast<unsigned>(status);
  }
  __syncthreads();
  if (status != StatusCode::kOk) return;
  const std::byte* const table = work.frame + head_bytes(work);
  const std::uint64_t payloads =
      place_all(work.layout.chunks, work.holed_at, scratch,
                [&](std::uint64_t index) { return row_of(table, index) & codec::kMostChunkBytes; });
  if (threadIdx.x == 0 && work.layout.table_bytes() + payloads != body) damage(state);
}

// Reads lengths of runs from `bytes` bytes; sets a bit at the first value of each run. The bytes of
// the mask, 0 if that is none. For whole thread blocks.
__device__ std::uint32_t read_runs(const std::byte* coded, std::uint32_t bytes,
                                   std::uint32_t values, std::uint32_t* bits, Scratch& scratch) {
  __shared__ unsigned first_end, first_wrong;
  if (threadIdx.x == 0) first_end = first_wrong = ~0u;
  __syncthreads();
  const auto is_last = [&](std::uint32_t at) {
    return (static_cast<unsigned>(coded[at]) & 0x80) == 0;
  };
  unsigned long long values_before = 0;
  unsigned runs_before = 0;
  for (std::uint32_t base = 0; base < bytes; base += kThreads) {
    const std::uint32_t at = base + threadIdx.x;
    const bool exists = at < bytes;
    unsigned place = 0;  // of the byte in its length
    while (exists && place < 5 && place < at && !is_last(at - place - 1)) ++place;
    const bool ends = exists && is_last(at);
    const unsigned low = exists ? static_cast<unsigned>(coded[at]) & 0x7F : 0;
    const unsigned long long part =
        place < 5 ? static_cast<unsigned long long>(low) << 7 * place : 0;
    const auto sums = sum_before_thread<kThreads>(part, scratch.sums);
    const auto runs = sum_before_thread<kThreads>(ends ? 1u : 0u, scratch.counts);
    const unsigned long long end = values_before + sums.before + part;
    const unsigned run = runs_before + runs.before;
    const bool is_wrong =
        place >= 5 || (ends && low == 0 && (place > 0 || run > 0)) || (ends && end > values);
    if (exists && is_wrong) atomicMin(&first_wrong, at);
    if (ends && end == values) atomicMin(&first_end, at);
    if (ends && end < values) atomicOr(&bits[end / 32], 1u << end % 32);
    values_before += sums.total;
    runs_before += runs.total;
    __syncthreads();
    if (first_end != ~0u || first_wrong != ~0u) break;
  }
  return first_end < first_wrong ? first_end + 1 : 0;
}

// Turns bits at which runs begin into bits of missing values. For whole thread blocks, after a
// barrier.
__device__ void fill_runs(std::uint32_t* bits, std::uint32_t values, Scratch& scratch) {
  const std::uint32_t words = words_of(values);
  unsigned turns = 0;
  for (std::uint32_t base = 0; base < words; base += kThreads) {
    const std::uint32_t at = base + threadIdx.x;
    std::uint32_t word = at < words ? bits[at] : 0;
    const auto sums =
        sum_before_thread<kThreads>(static_cast<unsigned>(__popc(word)), scratch.counts);
    for (int step = 1; step < 32; step *= 2) word ^= word << step;
    if (((turns + sums.before) & 1) != 0) word = ~word;
    if (at < words) bits[at] = word;
    turns += sums.total;
    __syncthreads();
  }
}

// The same of a mask of bits; false if one is set after the last value. For whole thread blocks.
__device__ bool read_bits(const std::byte* coded, std::uint32_t values, std::uint32_t* bits) {
  const std::uint32_t bytes = mask_bytes_of(values);
  for (std::uint32_t at = threadIdx.x; at < words_of(values); at += kThreads) {
    std::uint32_t word = 0;
    for (std::uint32_t byte = 4 * at; byte < bytes && byte < 4 * at + 4; ++byte) {
      word |= static_cast<std::uint32_t>(coded[byte]) << 8 * (byte % 4);
    }
    bits[at] = word;
  }
  const auto last = static_cast<std::uint32_t>(coded[bytes - 1]);
  return last >> (8 - (8 * bytes - values)) == 0;
}

// Reads the mask at the begin of a payload; its bytes, 0 if that is none. For whole thread blocks.
__device__ ChunkMask read_mask(const std::byte* payload, std::uint32_t bytes, std::uint32_t values,
                               std::uint32_t* bits, Scratch& scratch) {
  ChunkMask mask{};
  if (bytes == 0) return mask;
  mask.kind = static_cast<std::uint32_t>(payload[0]);
  if (mask.kind == ChunkMask::kNone) mask.bytes = 1;
  if (mask.kind == ChunkMask::kAll && bytes == 1) mask.bytes = 1;
  if (mask.kind == ChunkMask::kRuns) {
    for (std::uint32_t at = threadIdx.x; at < words_of(values); at += kThreads) bits[at] = 0;
    const std::uint32_t runs = read_runs(payload + 1, bytes - 1, values, bits, scratch);
    if (runs != 0) fill_runs(bits, values, scratch);
    mask.bytes = runs != 0 ? 1 + runs : 0;
  }
  if (mask.kind == ChunkMask::kBits && bytes > mask_bytes_of(values)) {
    if (read_bits(payload + 1, values, bits)) mask.bytes = 1 + mask_bytes_of(values);
  }
  return mask;
}

__device__ std::uint32_t fixed_payload(const DecodeWork& work, std::uint64_t index) {
  return index + 1 == work.layout.chunks ? work.last_bytes : work.whole_bytes;
}

// The row that the codec's frame has for a chunk of `bytes` bytes after its mask; kNoRow if that
// cannot be one.
constexpr std::uint32_t kNoRow = ~0u;

__device__ std::uint32_t plain_row(const DecodeWork& work, std::uint64_t index,
                                   const ChunkMask& mask, std::uint32_t bytes, std::uint32_t raw) {
  const bool is_coded = mask.kind != ChunkMask::kRaw && mask.kind != ChunkMask::kAll;
  if (!work.fixed) return is_coded ? bytes : codec::kRawChunk | raw;
  const std::uint32_t expected = fixed_payload(work, index);
  return is_coded && bytes != expected ? kNoRow : expected;
}

// Checks a chunk's payload, reads its mask, and says what is left for the codec.
__global__ void __launch_bounds__(kThreads) read_chunk(const __grid_constant__ DecodeWork work) {
  __shared__ Scratch scratch;
  State& state = *work.state;
  // Other thread blocks may find damage at any time: this one reads the answer once for all
  // threads.
  if (__syncthreads_or(status_of(state) != StatusCode::kOk) != 0) return;
  const std::uint64_t index = blockIdx.x;
  const std::byte* const table = work.frame + head_bytes(work);
  const std::uint64_t own = load_word(table + index * codec::kTableRowBytes);
  const std::uint32_t bytes = static_cast<std::uint32_t>(own) & codec::kMostChunkBytes;
  const bool is_raw = (static_cast<std::uint32_t>(own) & codec::kRawChunk) != 0;
  const bool has_fill = state.has_fill != 0;
  const std::uint32_t values = work.layout.box(index).count();
  const std::uint32_t raw =
      values * static_cast<std::uint32_t>(dtype_size(work.layout.array.dtype));
  bool is_sound = is_raw ? bytes == raw && (has_fill || !work.fixed)
                         : bytes <= raw || (work.fixed && !has_fill);
  const std::byte* const payload = table + work.layout.table_bytes() + work.holed_at[index];
  if (is_sound && work.checksums) {
    is_sound = checksum_of(payload, bytes, scratch.sums) == static_cast<std::uint32_t>(own >> 32);
    __syncthreads();
  }
  ChunkMask mask{};
  if (is_sound && is_raw) {
    mask.kind = ChunkMask::kRaw;
  } else if (is_sound && has_fill) {
    mask = read_mask(payload, bytes, values, work.bits + index * work.words, scratch);
    is_sound = mask.bytes != 0;
  }
  mask.row = is_sound ? plain_row(work, index, mask, bytes - mask.bytes, raw) : kNoRow;
  if (threadIdx.x != 0) return;
  if (mask.row == kNoRow) damage(state);
  work.masks[index] = mask;
}

// The codec's frame but for its payloads; one that is none after damage. One thread block.
__global__ void __launch_bounds__(kThreads) lay_out(const __grid_constant__ DecodeWork work) {
  __shared__ Scratch scratch;
  const bool is_sound = status_of(*work.state) == StatusCode::kOk;
  std::byte* const table = work.plain + work.plain_header.bytes();
  std::uint64_t payloads = 0;
  if (is_sound) {
    payloads = place_all(work.layout.chunks, work.plain_at, scratch, [&](std::uint64_t index) {
      const std::uint32_t row = work.masks[index].row;
      store_word(table + index * codec::kTableRowBytes, row);
      return row & codec::kMostChunkBytes;
    });
  }
  if (threadIdx.x != 0) return;
  frame::HeaderWords header{};
  header.count = work.plain_header.count;
  for (int at = 0; is_sound && at < static_cast<int>(header.count); ++at) {
    header.word[at] = work.plain_header.word[at];
  }
  if (is_sound && work.open) header.word[frame::kParameterWord] = work.state->parameter;
  codec::cuda::write_header(header, work.layout.table_bytes() + payloads, work.plain);
}

// A chunk's payload in the codec's frame: zeros if another kernel stores the values.
__global__ void __launch_bounds__(kThreads) move_payload(const __grid_constant__ DecodeWork work) {
  if (status_of(*work.state) != StatusCode::kOk) return;
  const std::uint64_t index = blockIdx.x;
  const ChunkMask mask = work.masks[index];
  const std::uint32_t bytes = mask.row & codec::kMostChunkBytes;
  std::byte* const to =
      work.plain + work.plain_header.bytes() + work.layout.table_bytes() + work.plain_at[index];
  if (mask.kind == ChunkMask::kAll || (mask.kind == ChunkMask::kRaw && work.fixed)) {
    for (std::uint32_t at = threadIdx.x; at < bytes; at += kThreads) to[at] = std::byte{0};
    return;
  }
  const std::byte* const from =
      work.frame + head_bytes(work) + work.layout.table_bytes() + work.holed_at[index] + mask.bytes;
  copy_bytes(to, from, bytes);
}

}  // namespace

Status enqueue_part(const DecodeWork& work, device::StreamHandle stream) {
  const Status table = launch_one(read_table, stream, work);
  if (!table.ok()) return table;
  const Status chunks = launch_chunks(read_chunk, work, stream, work);
  if (!chunks.ok()) return chunks;
  const Status laid = launch_one(lay_out, stream, work);
  return laid.ok() ? launch_chunks(move_payload, work, stream, work) : laid;
}

}  // namespace thinwire::message::fills
