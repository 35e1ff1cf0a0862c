// Volumes of fp32 on the device by four threads a block, for arrays too small to keep a GPU busy
// with one: what then counts is how long a block takes.
//
// Of a block each of its threads has one of the four slices along z, four lines along z, or sixteen
// coefficients; all pass through shared memory on the way. Planes are encoded four at a time: what
// stands before a plane, and how long it is, follows from the planes themselves. They are decoded
// one after the other by one thread.
#pragma once

#include "codec/zfp/block_coder.cuh"

namespace thinwire::codec::zfp {

// Which coefficient stands at a place of the block, for the lines along z: a byte for each of their
// four values.
struct alignas(16) CoefficientLines {
  std::uint32_t ranks[16];
};

constexpr CoefficientLines make_coefficient_lines() {
  CoefficientLines lines{};
  for (std::uint32_t rank = 0; rank < 64; ++rank) {
    const unsigned place = kSequency<3>[rank];
    lines.ranks[place % 16] |= rank << (place / 16 * 8);
  }
  return lines;
}

__device__ constexpr CoefficientLines kDeviceLines = make_coefficient_lines();

template <typename Sink>
struct QuadCoder {
  using Scalar = float;
  static constexpr int kRank = 3;
  static constexpr int kThreads = 128;
  static constexpr int kRoundBlocks = kThreads / 4;
  static constexpr int kResident = 8;
  // A block's 32 planes, or 64 words; blocks side by side meet different banks.
  static constexpr std::uint32_t kBlockBytes = 256 + 16;
  static constexpr std::uint32_t kPlaneBytes = kRoundBlocks * kBlockBytes;
  static constexpr std::uint32_t kScratchBytes = kPlaneBytes + sizeof(SearchTable);

  TilePlan plan;
  Access access;
  Sink sink;

  __device__ bool encode(const std::byte* source, const cuda::Tile& tile, std::uint64_t* payload,
                         std::byte* scratch) const {
    const ExpandTable& table = copy_table<kThreads>(kDeviceExpand, scratch + kPlaneBytes);
    for (std::uint32_t at = threadIdx.x; at < tile.bytes / 8; at += kThreads) payload[at] = 0;
    __syncthreads();
    const Grid grid = plan.grid(tile);
    const std::byte* const chunk = source + tile.chunk * plan.chunk_values * sizeof(float);
    const Place own(scratch);
    const std::uint32_t blocks = plan.blocks(tile);
    bool taken = true;
    for (std::uint32_t base = 0; base < blocks; base += kRoundBlocks) {
      // All lanes take part in every step; those behind the last block repeat it, and put nothing.
      const std::uint32_t at = base + threadIdx.x / 4;
      const std::uint32_t used = at < blocks ? at : blocks - 1;
      const BlockPlace place = TilePlan::place<3>(grid, plan.first_block(tile) + used);
      BlockHead head;
      taken = make_quad_planes(chunk, grid, place, own, head) && taken;
      if (at >= blocks) head.header = 0;
      put_quad(table, head, own, reinterpret_cast<std::uint32_t*>(payload), at * plan.block_bits);
    }
    return taken;
  }

  __device__ void decode(const std::uint64_t* payload, const cuda::Tile& tile, std::byte* scratch,
                         std::byte* destination) const {
    const SearchTable& table = copy_table<kThreads>(kDeviceSearch, scratch + kPlaneBytes);
    __syncthreads();
    const Grid grid = plan.grid(tile);
    std::byte* const chunk = destination + tile.chunk * plan.chunk_values * sizeof(float);
    const Place own(scratch);
    const std::uint32_t blocks = plan.blocks(tile);
    for (std::uint32_t base = 0; base < blocks; base += kRoundBlocks) {
      const std::uint32_t at = base + threadIdx.x / 4;
      std::uint32_t header = 0;
#pragma unroll
      for (int k = 0; k < 8; ++k) own.planes()[4 * k + own.quarter] = 0;
      __syncwarp();
      if (own.quarter == 0 && at < blocks) {
        WordReader reader(reinterpret_cast<const std::uint32_t*>(payload), tile.bytes / 4,
                          at * plan.block_bits);
        Planes planes{own.planes()};
        header = get_block<float, 3>(table, reader, plan.block_bits, planes);
      }
      header = __shfl_sync(kWarp, header, static_cast<int>(threadIdx.x % 32) & ~3);
      float values[16];
      restore_quad(header, own, values);
      if (at >= blocks) continue;
      store_slice(values, grid, TilePlan::place<3>(grid, plan.first_block(tile) + at), chunk, own);
    }
  }

 private:
  static constexpr unsigned kWarp = 0xffffffffu;

  // A thread's block in shared memory, and which of its four threads this is.
  struct Place {
    std::byte* block;
    int quarter;

    __device__ explicit Place(std::byte* scratch)
        : block(scratch + threadIdx.x / 4 * kBlockBytes),
          quarter(static_cast<int>(threadIdx.x % 4)) {}
    __device__ std::uint64_t* planes() const { return reinterpret_cast<std::uint64_t*>(block); }
    __device__ std::uint16_t* quarters() const { return reinterpret_cast<std::uint16_t*>(block); }
    __device__ std::uint32_t* words() const { return reinterpret_cast<std::uint32_t*>(block); }
    __device__ uint4* rows() const { return reinterpret_cast<uint4*>(block); }
  };

  // As PlaneLayout has them: words 0 to 31 are the lower halves, 32 to 63 the upper ones.
  struct Planes {
    std::uint64_t* plane;

    __device__ void store(int index, std::uint32_t word) {
      reinterpret_cast<std::uint32_t*>(plane)[index % 32 * 2 + index / 32] = word;
    }
  };

  // The quad's sum or the like of `value` over its threads.
  template <typename Value, typename Join>
  __device__ static Value over_quad(Value value, const Join& join) {
    value = join(value, __shfl_xor_sync(kWarp, value, 1));
    return join(value, __shfl_xor_sync(kWarp, value, 2));
  }

  __device__ void load_slice(const std::byte* chunk, const Grid& grid, const BlockPlace& place,
                             const Place& own, float (&values)[16]) const {
    const std::byte* const base = chunk + place.first * sizeof(float);
    if (access == Access::kRows && is_full<3>(place)) {
#pragma unroll
      for (int row = 0; row < 4; ++row) {
        load_row(reinterpret_cast<const float*>(base) + offset_in(grid, 0, row, own.quarter),
                 values + 4 * row);
      }
      return;
    }
    const int z = pad_index(own.quarter, place.z);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const std::uint64_t offset =
          offset_in(grid, pad_index(i % 4, place.x), pad_index(i / 4, place.y), z);
      values[i] = access == Access::kBytes ? load_bytes<float>(base + offset * sizeof(float))
                                           : __ldg(reinterpret_cast<const float*>(base) + offset);
    }
  }

  __device__ void store_slice(const float (&values)[16], const Grid& grid, const BlockPlace& place,
                              std::byte* chunk, const Place& own) const {
    std::byte* const base = chunk + place.first * sizeof(float);
    if (access == Access::kRows && is_full<3>(place)) {
#pragma unroll
      for (int row = 0; row < 4; ++row) {
        store_row(sink, base + offset_in(grid, 0, row, own.quarter) * sizeof(float),
                  values + 4 * row);
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      if (i % 4 >= place.x || i / 4 >= place.y || own.quarter >= place.z) continue;
      sink.put(base + offset_in(grid, i % 4, i / 4, own.quarter) * sizeof(float),
               __float_as_uint(values[i]));
    }
  }

  // make_planes() by a quad.
  __device__ bool make_quad_planes(const std::byte* chunk, const Grid& grid,
                                   const BlockPlace& place, const Place& own,
                                   BlockHead& head) const {
    float values[16];
    load_slice(chunk, grid, place, own, values);
    const auto larger = [](std::int32_t a, std::int32_t b) { return a > b ? a : b; };
    const std::int32_t largest = over_quad(largest_magnitude(values), larger);
    const bool finite = largest < kInfinityBits<float>;
    head.header = finite ? block_header<float>(largest) : 0;
    const float scale = forward_scale<float>(finite ? largest : 0);
    std::uint32_t slice[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) slice[i] = finite ? quantise(values[i], scale) : 0;
    forward_axis<1>(slice);
    forward_axis<4>(slice);
    std::uint32_t row[16];
    slices_to_coefficients(slice, own, row);
    std::uint32_t any = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) any |= row[i];
    any = over_quad(any, [](std::uint32_t a, std::uint32_t b) { return a | b; });
    head.highest = 31 - leading_zeros(any);
    transpose_bits(row);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      own.quarters()[4 * i + own.quarter] = static_cast<std::uint16_t>(row[i]);
      own.quarters()[4 * (i + 16) + own.quarter] = static_cast<std::uint16_t>(row[i] >> 16);
    }
    __syncwarp();
    return finite;
  }

  // The transform along z, from the thread's slice to its coefficients in negabinary.
  __device__ static void slices_to_coefficients(const std::uint32_t (&slice)[16], const Place& own,
                                                std::uint32_t (&row)[16]) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      own.rows()[4 * own.quarter + i] =
          make_uint4(slice[4 * i], slice[4 * i + 1], slice[4 * i + 2], slice[4 * i + 3]);
    }
    __syncwarp();
    uint4 line[4];
#pragma unroll
    for (int z = 0; z < 4; ++z) line[z] = own.rows()[4 * z + own.quarter];
    forward_lift(line[0].x, line[1].x, line[2].x, line[3].x);
    forward_lift(line[0].y, line[1].y, line[2].y, line[3].y);
    forward_lift(line[0].z, line[1].z, line[2].z, line[3].z);
    forward_lift(line[0].w, line[1].w, line[2].w, line[3].w);
    const uint4 ranks = __ldg(reinterpret_cast<const uint4*>(kDeviceLines.ranks) + own.quarter);
    __syncwarp();
#pragma unroll
    for (int z = 0; z < 4; ++z) {
      own.words()[ranks.x >> (8 * z) & 0xff] = to_negabinary(line[z].x);
      own.words()[ranks.y >> (8 * z) & 0xff] = to_negabinary(line[z].y);
      own.words()[ranks.z >> (8 * z) & 0xff] = to_negabinary(line[z].z);
      own.words()[ranks.w >> (8 * z) & 0xff] = to_negabinary(line[z].w);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint4 four = own.rows()[4 * own.quarter + i];
      row[4 * i] = four.x;
      row[4 * i + 1] = four.y;
      row[4 * i + 2] = four.z;
      row[4 * i + 3] = four.w;
    }
  }

  // Undoes slices_to_coefficients().
  __device__ static void coefficients_to_slices(const std::uint32_t (&row)[16], const Place& own,
                                                std::uint32_t (&slice)[16]) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      own.rows()[4 * own.quarter + i] =
          make_uint4(row[4 * i], row[4 * i + 1], row[4 * i + 2], row[4 * i + 3]);
    }
    const uint4 ranks = __ldg(reinterpret_cast<const uint4*>(kDeviceLines.ranks) + own.quarter);
    __syncwarp();
    uint4 line[4];
#pragma unroll
    for (int z = 0; z < 4; ++z) {
      line[z].x = from_negabinary(own.words()[ranks.x >> (8 * z) & 0xff]);
      line[z].y = from_negabinary(own.words()[ranks.y >> (8 * z) & 0xff]);
      line[z].z = from_negabinary(own.words()[ranks.z >> (8 * z) & 0xff]);
      line[z].w = from_negabinary(own.words()[ranks.w >> (8 * z) & 0xff]);
    }
    inverse_lift(line[0].x, line[1].x, line[2].x, line[3].x);
    inverse_lift(line[0].y, line[1].y, line[2].y, line[3].y);
    inverse_lift(line[0].z, line[1].z, line[2].z, line[3].z);
    inverse_lift(line[0].w, line[1].w, line[2].w, line[3].w);
    __syncwarp();
#pragma unroll
    for (int z = 0; z < 4; ++z) own.rows()[4 * z + own.quarter] = line[z];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint4 four = own.rows()[4 * own.quarter + i];
      slice[4 * i] = four.x;
      slice[4 * i + 1] = four.y;
      slice[4 * i + 2] = four.z;
      slice[4 * i + 3] = four.w;
    }
    __syncwarp();
  }

  __device__ static void restore_quad(std::uint32_t header, const Place& own, float (&values)[16]) {
    __syncwarp();
    std::uint32_t row[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      row[i] = own.quarters()[4 * i + own.quarter] |
               static_cast<std::uint32_t>(own.quarters()[4 * (i + 16) + own.quarter]) << 16;
    }
    transpose_bits(row);
    std::uint32_t slice[16];
    coefficients_to_slices(row, own, slice);
    inverse_axis<4>(slice);
    inverse_axis<1>(slice);
    const float scale = inverse_scale<float>(header);
#pragma unroll
    for (int i = 0; i < 16; ++i) values[i] = restore(slice[i], scale);
  }

  // The bits of a plane of which `n` coefficients are known.
  __device__ static int length_of(std::uint64_t plane, int n) {
    if (n == 64) return 64;
    const std::uint64_t rest = plane >> n;
    if (rest == 0) return n + 1;
    const int zeros = leading_zeros(plane);
    return 65 - zeros + __popcll(rest) - (zeros == 0 ? 2 : 0);
  }

  // put_block() by a quad, from bit `first` on.
  __device__ void put_quad(const ExpandTable& table, const BlockHead& head, const Place& own,
                           std::uint32_t* words, std::uint32_t first) const {
    const std::uint32_t end = first + static_cast<std::uint32_t>(plan.block_bits);
    std::uint32_t at = first + kHeaderBits<float> + static_cast<std::uint32_t>(31 - head.highest);
    if (head.header != 0 && own.quarter == 0) {
      WordWriter<false> writer(words, first, plan.block_bits);
      writer.put(static_cast<std::uint32_t>(head.header), kHeaderBits<float>);
      writer.finish();
    }
    std::uint64_t above = 0;  // the planes before these four, together
    int k = head.header != 0 ? head.highest - own.quarter : -1 - own.quarter;
    // A quad goes on as long as its first thread has a plane.
    while (__any_sync(kWarp, k + own.quarter >= 0 && at < end)) {
      const std::uint64_t plane = k >= 0 ? own.planes()[k] : 0;
      std::uint64_t up_to = plane;
#pragma unroll
      for (int offset = 1; offset < 4; offset *= 2) {
        const std::uint64_t other = __shfl_up_sync(kWarp, up_to, offset, 4);
        if (own.quarter >= offset) up_to |= other;
      }
      const std::uint64_t before = __shfl_up_sync(kWarp, up_to, 1, 4);
      const std::uint64_t known = above | (own.quarter != 0 ? before : 0);
      const int n = 64 - leading_zeros(known);
      const int length = k >= 0 ? length_of(plane, n) : 0;
      int start = length;
#pragma unroll
      for (int offset = 1; offset < 4; offset *= 2) {
        const int other = __shfl_up_sync(kWarp, start, offset, 4);
        if (own.quarter >= offset) start += other;
      }
      const int all = __shfl_sync(kWarp, start, 3, 4);
      const std::uint32_t begin = at + static_cast<std::uint32_t>(start - length);
      if (k >= 0 && begin < end) put_plane(table, plane, n, words, begin, end);
      above |= __shfl_sync(kWarp, up_to, 3, 4);
      at += static_cast<std::uint32_t>(all);
      k -= 4;
    }
  }

  __device__ static void put_plane(const ExpandTable& table, std::uint64_t plane, int n,
                                   std::uint32_t* words, std::uint32_t begin, std::uint32_t end) {
    WordWriter<false> writer(words, begin, static_cast<int>(end - begin));
    const std::uint64_t mask = low_bits_mask(n);
    std::uint64_t rest = n < 64 ? plane >> n : 0;
    const int tested = n < 64 ? 1 : 0;
    writer.put((plane & mask) | (rest != 0 ? std::uint64_t{1} << n : 0), n + tested);
    const bool last = plane >> 63 != 0;
    while (rest != 0) put_step(table, rest, last, writer);
    writer.finish();
  }
};

}  // namespace thinwire::codec::zfp
