// The missing values of a decoded array, and the outcome.
#include "codec/cuda/frame_end.cuh"
#include "codec/cuda/sink.cuh"
#include "message/fills/block.cuh"

namespace thinwire::message::fills {
namespace {

__device__ StatusCode outcome_of(const State& state) {
  const StatusCode status = status_of(state);
  return status != StatusCode::kOk ? status : codec_status(state);
}

// Stores the values that the codec has not decoded, or adds all to the destination.
template <Dtype kDtype, typename Sink>
__global__ void __launch_bounds__(kThreads)
    put_values(const __grid_constant__ DecodeWork work, const Sink sink) {
  using Word = WordOf<kDtype>;
  const State& state = *work.state;
  if (outcome_of(state) != StatusCode::kOk) return;
  const std::uint64_t index = blockIdx.x;
  const ChunkMask mask = work.masks[index];
  const bool is_raw = mask.kind == ChunkMask::kRaw && work.fixed;
  const bool has_bits = mask.kind == ChunkMask::kRuns || mask.kind == ChunkMask::kBits;
  if (!Sink::kAdds && !is_raw && !has_bits && mask.kind != ChunkMask::kAll) return;
  const std::uint64_t head = work.header.bytes() + (state.has_fill != 0 ? frame::kFillBytes : 0);
  const std::byte* const raw = work.frame + head + work.layout.table_bytes() + work.holed_at[index];
  const std::uint32_t* const bits = work.bits + index * work.words;
  const auto target = codec::cuda::piece_of<sizeof(Word)>(work.layout, index, work.destination);
  const auto decoded = codec::cuda::piece_of<sizeof(Word)>(work.layout, index, work.values);
  const auto fill = static_cast<Word>(state.fill);
  for (std::uint32_t at = threadIdx.x; at < target.values; at += kThreads) {
    const bool is_fill = mask.kind == ChunkMask::kAll || (has_bits && is_missing(bits, at));
    if (!Sink::kAdds && !is_fill && !is_raw) continue;
    Word value = fill;
    if (is_raw) {
      value = load_value<Word>(raw + at * sizeof(Word));
    } else if (!is_fill) {
      value = load_value<Word>(decoded.template place<sizeof(Word)>(at));
    }
    sink.put(target.template place<sizeof(Word)>(at), value);
  }
}

// One thread.
__global__ void end_decode(const __grid_constant__ DecodeWork work) {
  codec::cuda::publish_with_writes(work.outcome, outcome_of(*work.state), 0);
}

}  // namespace

Status enqueue_put(const DecodeWork& work, device::StreamHandle stream) {
  const Status status = with_float_dtype(work.layout.array.dtype, [&](auto kDtype) -> Status {
    const auto scale = static_cast<NumberOf<kDtype>>(work.accumulate.scale);
    if (work.accumulate.adds) {
      using Sink = codec::cuda::Sink<kDtype, true>;
      return launch_chunks(put_values<kDtype, Sink>, work, stream, work, Sink{scale});
    }
    using Sink = codec::cuda::Sink<kDtype, false>;
    return launch_chunks(put_values<kDtype, Sink>, work, stream, work, Sink{scale});
  });
  if (!status.ok()) return status;
  return device::launch("cannot code missing values", end_decode, {1, 1}, stream, work);
}

}  // namespace thinwire::message::fills
