// A chunk of cast by one thread block: rows of payload words of 8 bytes, one of each to a thread.
#pragma once

#include <type_traits>

#include "codec/cast/core.h"
#include "codec/cuda/sink.cuh"
#include "codec/cuda/word_frame.cuh"
#include "codec/draw.h"
#include "codec/integers.h"

namespace thinwire::codec::cast {

// The values of a payload word, in the array and in the word.
template <Dtype kFrom, Dtype kTo>
struct Rows {
  static constexpr int kThreads = 256;
  static constexpr int kCount = kPayloadBytes / 8 / kThreads;
  static constexpr int kValues = 8 / static_cast<int>(dtype_size(kTo));
  static constexpr int kBytes = kValues * static_cast<int>(dtype_size(kFrom));
  static constexpr std::uint32_t kChunkValues = kPayloadBytes / dtype_size(kTo);

  WordOf<kFrom> value[kValues];
};

// Rows whose values are loaded at a time.
inline constexpr int kAtOnce = 4;

template <Dtype kFrom, Dtype kTo>
__device__ Rows<kFrom, kTo> load_units(const std::byte* at) {
  using Row = Rows<kFrom, kTo>;
  union {
    uint4 unit[Row::kBytes / 16];
    Row row;
  };
#pragma unroll
  for (int each = 0; each < Row::kBytes / 16; ++each) {
    unit[each] = __ldg(reinterpret_cast<const uint4*>(at) + each);
  }
  return row;
}

// Loads `count` values from any alignment; the others become 0.
template <Dtype kFrom, Dtype kTo>
__device__ Rows<kFrom, kTo> load_some(const std::byte* at, int count) {
  Rows<kFrom, kTo> row;
#pragma unroll
  for (int each = 0; each < row.kValues; ++each) {
    row.value[each] =
        each < count ? cuda::load_value<WordOf<kFrom>>(at + each * sizeof(WordOf<kFrom>)) : 0;
  }
  return row;
}

// Values that are left of an array from a chunk's first one on, at most a chunk's.
template <Dtype kFrom, Dtype kTo>
__device__ std::uint32_t values_of_chunk(std::uint64_t values, std::uint64_t chunk) {
  constexpr std::uint32_t kMost = Rows<kFrom, kTo>::kChunkValues;
  const std::uint64_t left = values - chunk * kMost;
  return left < kMost ? static_cast<std::uint32_t>(left) : kMost;
}

template <Dtype kFrom, Dtype kTo, bool kStochastic>
struct Encoder {
  using Row = Rows<kFrom, kTo>;
  using Writer = cuda::WordWriter<Row::kThreads>;
  static constexpr int kThreads = Row::kThreads;
  static constexpr int kResident = 4;
  struct State {};

  std::uint64_t values;
  std::uint32_t seed;
  unsigned* problems;  // of the grid, for integers in fp64; nullptr: they are not looked for

  __device__ bool encode(const std::byte* source, std::uint64_t chunk, Writer& writer,
                         State&) const {
    const std::byte* const first = source + chunk * Row::kChunkValues * sizeof(WordOf<kFrom>);
    const std::uint32_t count = values_of_chunk<kFrom, kTo>(values, chunk);
    const std::uint32_t key = kStochastic ? chunk_key(seed, chunk) : 0;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(source) % 16 == 0;
    Met met;
    if (count == Row::kChunkValues && is_aligned && writer.is_aligned()) {
      encode_whole(first, key, writer, met);
    } else {
      encode_some(first, count, key, writer, met);
    }
    if (met.integer && problems != nullptr) {
      atomicOr(problems, cuda::kMetIntegers);
      __threadfence();
    }
    return !met.lost;
  }

 private:
  struct Met {
    bool lost = false, integer = false;
  };

  __device__ void encode_whole(const std::byte* first, std::uint32_t key, Writer& writer,
                               Met& met) const {
#pragma unroll 1
    for (int from = 0; from < Row::kCount; from += kAtOnce) {
      Row rows[kAtOnce];
#pragma unroll
      for (int each = 0; each < kAtOnce; ++each) {
        rows[each] = load_units<kFrom, kTo>(first + ((from + each) * kThreads + threadIdx.x) *
                                                        std::uint64_t{Row::kBytes});
      }
#pragma unroll
      for (int each = 0; each < kAtOnce; ++each) {
        writer.put_row(from + each, word_of_row(rows[each], from + each, key, met));
      }
    }
  }

  __device__ void encode_some(const std::byte* first, std::uint32_t count, std::uint32_t key,
                              Writer& writer, Met& met) const {
    const std::uint32_t words = (count + Row::kValues - 1) / Row::kValues;
#pragma unroll 1
    for (int row = 0; row < Row::kCount; ++row) {
      const std::uint32_t at = row * kThreads + threadIdx.x;
      if (at >= words) break;
      const int left = static_cast<int>(count) - static_cast<int>(at) * Row::kValues;
      const Row some = load_some<kFrom, kTo>(first + at * std::uint64_t{Row::kBytes}, left);
      writer.put(at, word_of_row(some, row, key, met));
    }
  }

  __device__ std::uint64_t word_of_row(const Row& row, int number, std::uint32_t key,
                                       Met& met) const {
    std::uint64_t word = 0;
#pragma unroll
    for (int each = 0; each < Row::kValues; ++each) {
      const std::uint32_t place = (number * kThreads + threadIdx.x) * Row::kValues + each;
      const std::uint32_t drawn = kStochastic ? drawn_for(key, place) : 0;
      const WordOf<kFrom> bits = row.value[each];
      const WordOf<kTo> code = narrow<kFrom, kTo, kStochastic>(bits, drawn);
      met.lost |= is_lost<kFrom, kTo>(bits, code);
      if constexpr (kFrom == Dtype::kF64) met.integer |= reads_as_integer(bits);
      word |= std::uint64_t{code} << each * 64 / Row::kValues;
    }
    return word;
  }
};

template <Dtype kTo, typename Sink>
struct Decoder {
  static constexpr Dtype kFrom = Sink::kDtype;
  using Row = Rows<kFrom, kTo>;
  using Reader = cuda::WordReader<Row::kThreads>;
  static constexpr int kThreads = Row::kThreads;
  static constexpr int kResident = 4;

  std::uint64_t values;
  Sink sink;

  __device__ void decode(Reader& reader, std::uint64_t chunk, std::byte* destination) const {
    std::byte* const first = destination + chunk * Row::kChunkValues * sizeof(WordOf<kFrom>);
    const std::uint32_t count = values_of_chunk<kFrom, kTo>(values, chunk);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(destination) % 16 == 0;
    if (count == Row::kChunkValues && is_aligned && reader.is_aligned()) {
      decode_whole(reader, first);
    } else {
      decode_some(reader, first, count);
    }
  }

 private:
  __device__ void decode_whole(Reader& reader, std::byte* first) const {
#pragma unroll 1
    for (int from = 0; from < Row::kCount; from += kAtOnce) {
      std::uint64_t words[kAtOnce];
#pragma unroll
      for (int each = 0; each < kAtOnce; ++each) words[each] = reader.load_row(from + each);
#pragma unroll
      for (int each = 0; each < kAtOnce; ++each) {
        reader.add_row(from + each, words[each]);
        put_units(first + ((from + each) * kThreads + threadIdx.x) * std::uint64_t{Row::kBytes},
                  words[each]);
      }
    }
  }

  __device__ void decode_some(Reader& reader, std::byte* first, std::uint32_t count) const {
    const std::uint32_t words = (count + Row::kValues - 1) / Row::kValues;
#pragma unroll 1
    for (int row = 0; row < Row::kCount; ++row) {
      const std::uint32_t at = row * kThreads + threadIdx.x;
      if (at >= words) break;
      const Row wide = row_of(reader.get(at));
      const int left = static_cast<int>(count) - static_cast<int>(at) * Row::kValues;
      std::byte* const to = first + at * std::uint64_t{Row::kBytes};
#pragma unroll
      for (int each = 0; each < Row::kValues; ++each) {
        if (each < left) sink.put(to + each * sizeof(WordOf<kFrom>), wide.value[each]);
      }
    }
  }

  __device__ void put_units(std::byte* at, std::uint64_t word) const {
    union {
      uint4 unit[Row::kBytes / 16];
      Row row;
    };
    row = row_of(word);
#pragma unroll
    for (int each = 0; each < Row::kBytes / 16; ++each)
      sink.put_aligned(at + 16 * each, unit[each]);
  }

  __device__ Row row_of(std::uint64_t word) const {
    Row row;
#pragma unroll
    for (int each = 0; each < Row::kValues; ++each) {
      row.value[each] =
          widen<kFrom, kTo>(static_cast<WordOf<kTo>>(word >> each * 64 / Row::kValues));
    }
    return row;
  }
};

}  // namespace thinwire::codec::cast
