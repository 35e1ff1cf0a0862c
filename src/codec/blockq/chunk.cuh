// A chunk of blockq by one thread block: rows of payload words, one of each to a thread.
#pragma once

#include "codec/blockq/word.cuh"
#include "codec/cuda/word_frame.cuh"

namespace thinwire::codec::blockq {

// The properties of an array and its options that encoder and decoder use.
struct Plan {
  std::uint64_t values;
  std::uint32_t element_bytes;  // of a whole chunk
  std::uint32_t lanes;          // that have one block
  std::uint32_t lane_shift;     // 2^lane_shift of them
  Options options;

  __device__ std::uint32_t chunk_values(std::uint64_t chunk) const {
    const std::uint64_t left = values - chunk * kChunkValues;
    return left < kChunkValues ? static_cast<std::uint32_t>(left) : kChunkValues;
  }
};

template <Element kElement>
Plan make_plan(std::uint64_t values, const Options& options) {
  Plan plan{.values = values,
            .element_bytes = options.element_bytes(kChunkValues),
            .lanes = options.block / kWordValues<kElement>,
            .lane_shift = 0,
            .options = options};
  while (1u << plan.lane_shift < plan.lanes) ++plan.lane_shift;
  return plan;
}

template <Element kElement>
struct Rows {
  static constexpr int kThreads = 256;
  static constexpr int kValues = kWordValues<kElement>;
  static constexpr int kCount = static_cast<int>(kChunkValues) / (kThreads * kValues);
};

// kPlain: without rotation and stochastic rounding.
template <Dtype kDtype, Element kElement, bool kPlain>
struct Encoder {
  using Row = Rows<kElement>;
  using Raw = RawValues<kDtype, kElement>;
  using Writer = cuda::WordWriter<Row::kThreads>;
  static constexpr int kThreads = Row::kThreads;
  static constexpr int kResident = 4;

  union State {
    std::uint64_t words[kChunkValues / 32 * 2 / 8];
    std::uint16_t scales[kChunkValues / 32];
    std::uint8_t powers[kChunkValues / 32];
  };

  Plan plan;

  __device__ bool encode(const std::byte* source, std::uint64_t chunk, Writer& writer,
                         State& state) const {
    const std::byte* const values = source + chunk * kChunkValues * dtype_size(kDtype);
    const std::uint32_t count = plan.chunk_values(chunk);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(source) % 16 == 0;
    return count == kChunkValues && is_aligned && writer.is_aligned()
               ? encode_whole(values, chunk, writer, state)
               : encode_some(values, count, chunk, writer, state);
  }

 private:
  __device__ bool encode_whole(const std::byte* values, std::uint64_t chunk, Writer& writer,
                               State& state) const {
    Raw raw[Row::kCount];
#pragma unroll
    for (int row = 0; row < Row::kCount; ++row) {
      raw[row] =
          load_units<kDtype, kElement>(values + (row * kThreads + threadIdx.x) * sizeof(Raw));
    }
    bool taken = true;
#pragma unroll
    for (int row = 0; row < Row::kCount; ++row) {
      std::uint32_t scale;
      writer.put_row(row, word_of(raw[row], row, chunk, scale, taken));
      put_scale(state, row, scale);
    }
    __syncthreads();
    const std::uint32_t scale_words =
        kChunkValues / plan.options.block * plan.options.scale_bytes() / 8;
    if (threadIdx.x < scale_words) {
      // A row of its own: the elements fill theirs, and this one is shorter than a checksum's
      // block.
      writer.put_row(Row::kCount, state.words[threadIdx.x]);
    }
    return taken;
  }

  __device__ bool encode_some(const std::byte* values, std::uint32_t count, std::uint64_t chunk,
                              Writer& writer, State& state) const {
    if (threadIdx.x < sizeof(state.words) / 8) state.words[threadIdx.x] = 0;
    __syncthreads();
    const std::uint32_t words = plan.options.element_bytes(count) / 8;
    bool taken = true;
#pragma unroll 1
    for (int row = 0; row < Row::kCount; ++row) {
      const std::uint32_t at = row * kThreads + threadIdx.x;
      const int left = static_cast<int>(count) - static_cast<int>(at) * Row::kValues;
      const Raw raw = load_some<kDtype, kElement>(values + at * sizeof(Raw), left);
      std::uint32_t scale;
      const std::uint64_t word = word_of(raw, row, chunk, scale, taken);
      if (at >= words) continue;
      writer.put(at, word);
      put_scale(state, row, scale);
    }
    __syncthreads();
    const std::uint32_t all = plan.options.payload_bytes(count) / 8;
    if (words + threadIdx.x < all) writer.put(words + threadIdx.x, state.words[threadIdx.x]);
    return taken;
  }

  // For whole warps.
  __device__ std::uint64_t word_of(const Raw& raw, int row, std::uint64_t chunk,
                                   std::uint32_t& scale, bool& taken) const {
    float values[Row::kValues];
    to_floats<kDtype>(raw, values);
    std::uint32_t largest;
    if (!kPlain && plan.options.rotated) {
      const float part = 1.0f / static_cast<float>(plan.options.block);
#pragma unroll
      for (int at = 0; at < Row::kValues; ++at) values[at] *= part;
      rotate(values, plan.lanes);
      largest = largest_of(values);
    } else if constexpr (kDtype == Dtype::kF32) {
      largest = largest_of(values);
    } else {
      largest = largest_of(raw);
    }
    largest = largest_in_block(largest);
    taken = taken && largest < kInfinityBits;
    scale = scale_bits<kElement>(largest, plan.options.power_of_two);
    const float inverse = reciprocal(__uint_as_float(scale));
#pragma unroll
    for (int at = 0; at < Row::kValues; ++at) values[at] *= inverse;
    if (!kPlain && plan.options.stochastic) {
      const std::uint32_t first = (row * kThreads + threadIdx.x) * Row::kValues;
      return drawn_word<kElement>(values, chunk_key(plan.options.seed, chunk), first);
    }
    return nearest_word<kElement>(values);
  }

  __device__ std::uint32_t largest_in_block(std::uint32_t largest) const {
    const auto join = [&](unsigned distance) {
      largest = max(largest, __shfl_xor_sync(kAllLanes, largest, distance));
    };
    join(1);
    if (plan.lanes > 2) join(2);
    if (plan.lanes > 4) join(4);
    if (plan.lanes > 8) join(8);
    return largest;
  }

  __device__ void put_scale(State& state, int row, std::uint32_t scale) const {
    if (threadIdx.x % plan.lanes != 0) return;
    const std::uint32_t block = (row * kThreads + threadIdx.x) >> plan.lane_shift;
    const std::uint32_t code = scale_code(scale, plan.options.power_of_two);
    if (plan.options.power_of_two) {
      state.powers[block] = static_cast<std::uint8_t>(code);
    } else {
      state.scales[block] = static_cast<std::uint16_t>(code);
    }
  }
};

template <Element kElement, typename Sink>
struct Decoder {
  using Row = Rows<kElement>;
  static constexpr Dtype kDtype = Sink::kDtype;
  using Raw = RawValues<kDtype, kElement>;
  using Reader = cuda::WordReader<Row::kThreads>;
  static constexpr int kThreads = Row::kThreads;
  static constexpr int kResident = dtype_size(kDtype) == 2 ? 6 : 5;

  Plan plan;
  Sink sink;

  __device__ void decode(Reader& reader, std::uint64_t chunk, std::byte* destination) const {
    std::byte* const values = destination + chunk * kChunkValues * dtype_size(kDtype);
    const std::uint32_t count = plan.chunk_values(chunk);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(destination) % 16 == 0;
    if (count == kChunkValues && is_aligned && reader.is_aligned()) {
      decode_whole(reader, values);
    } else {
      decode_some(reader, values, count);
    }
  }

 private:
  __device__ void decode_whole(Reader& reader, std::byte* values) const {
    std::uint64_t words[Row::kCount];
    float scales[Row::kCount];
#pragma unroll
    for (int row = 0; row < Row::kCount; ++row) {
      words[row] = reader.load_row(row);
      scales[row] = scale_at(reader.payload() + plan.element_bytes, row);
    }
    const std::uint32_t scale_words =
        kChunkValues / plan.options.block * plan.options.scale_bytes() / 8;
    if (threadIdx.x < scale_words) reader.add_row(Row::kCount, reader.load_row(Row::kCount));
#pragma unroll
    for (int row = 0; row < Row::kCount; ++row) {
      reader.add_row(row, words[row]);
      put_units(sink, values + (row * kThreads + threadIdx.x) * sizeof(Raw),
                values_of(words[row], scales[row]));
    }
  }

  __device__ void decode_some(Reader& reader, std::byte* values, std::uint32_t count) const {
    const std::uint32_t words = plan.options.element_bytes(count) / 8;
    const std::uint32_t all = plan.options.payload_bytes(count) / 8;
#pragma unroll 1
    for (int row = 0; row < Row::kCount; ++row) {
      const std::uint32_t at = row * kThreads + threadIdx.x;
      const bool is_there = at < words;
      const std::uint64_t word = is_there ? reader.get(at) : 0;
      const float scale = is_there ? scale_at(reader.payload() + 8 * words, row) : 0;
      const Raw raw = values_of(word, scale);
      const int left = static_cast<int>(count) - static_cast<int>(at) * Row::kValues;
      put_some(sink, values + at * sizeof(Raw), raw, left);
    }
    if (words + threadIdx.x < all) reader.get(words + threadIdx.x);
  }

  // The scale of the block to which the thread's word in this row belongs.
  __device__ float scale_at(const std::byte* scales, int row) const {
    const std::uint32_t block = (row * kThreads + threadIdx.x) >> plan.lane_shift;
    const std::uint32_t code = plan.options.power_of_two
                                   ? static_cast<std::uint32_t>(scales[block])
                                   : cuda::load_value<std::uint16_t>(scales + 2 * block);
    return scale_of(code, plan.options.power_of_two);
  }

  // For whole warps.
  __device__ Raw values_of(std::uint64_t word, float scale) const {
    float values[Row::kValues];
    to_numbers<kElement>(word, values);
    if (plan.options.rotated) rotate(values, plan.lanes);
#pragma unroll
    for (int at = 0; at < Row::kValues; ++at) values[at] = saturate<kDtype>(values[at] * scale);
    return from_floats<kDtype, kElement>(values);
  }
};

}  // namespace thinwire::codec::blockq
