// The kernels of the GPU's solver.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formulas.h"
#include "medium.h"
#include "part.h"
#include "survey.h"

namespace seismic {
namespace {

// Threads of a block, along x and y: a warp is one run of 32 points of a row. Each thread goes down
// kMarch points of z.
constexpr int kBlockX = 32;
constexpr int kBlockY = 8;
constexpr int kMarch = 64;
constexpr int kLine = 256;  // threads of a block if there is one axis

// Part, as far as kernels need it.
struct Layout {
  std::ptrdiff_t row;
  std::ptrdiff_t plane;
  std::ptrdiff_t origin;  // index of the first owned point
  Extents own;
  Extents first;
  Extents grid;

  __device__ std::ptrdiff_t index(int x, int y, int z) const {
    return origin + z * plane + y * row + x;
  }
};

// The sponge's factors.
struct Damping {
  const float* x;
  const float* y;
  const float* z;
};

// kept_shares(), passed to the kernel by value.
struct Kept {
  float share[kMechanisms];
};

struct Column {
  int x;
  int y;
  int begin;  // of z
  int end;
};

// The column of this thread in a box; an empty one outside of it.
__device__ inline Column column_of(const Box& box) {
  const int aligned = box.begin.x / kBlockX * kBlockX;
  Column column{static_cast<int>(aligned + blockIdx.x * kBlockX + threadIdx.x),
                static_cast<int>(box.begin.y + blockIdx.y * kBlockY + threadIdx.y),
                static_cast<int>(box.begin.z + blockIdx.z * kMarch), 0};
  const bool inside = column.x >= box.begin.x && column.x < box.end.x && column.y < box.end.y;
  column.end = inside ? min(column.begin + kMarch, box.end.z) : column.begin;
  return column;
}

// Four values down a column, of which three stay at the next point.
struct Window {
  float a;
  float b;
  float c;
  float d;

  // `f` points to the value that is to become d when the window first moves on.
  __device__ Window(const float* f, std::ptrdiff_t plane)
      : a(0), b(f[-3 * plane]), c(f[-2 * plane]), d(f[-plane]) {}
  __device__ float next(float value) {
    a = b;
    b = c;
    c = d;
    d = value;
    return slope(a, b, c, d);
  }
};

__global__ void __launch_bounds__(kBlockX* kBlockY)
    velocity_points(Layout layout, Box box, State state, Rock rock, Damping damping) {
  const Column column = column_of(box);
  if (column.begin >= column.end) return;
  const std::ptrdiff_t plane = layout.plane;
  std::ptrdiff_t at = layout.index(column.x, column.y, column.begin);
  // Backward: up to the next value. Ahead: up to the one after that.
  Window xz(state.field[kXz] + at + plane, plane);
  Window yz(state.field[kYz] + at + plane, plane);
  Window zz(state.field[kZz] + at + 2 * plane, plane);
  const float along_x = damping.x[column.x];
  const float along_y = damping.y[column.y];
  for (int z = column.begin; z < column.end; ++z, at += plane) {
    const float across = along_y * damping.z[z];
    const Down down{xz.next(state.field[kXz][at + plane]), yz.next(state.field[kYz][at + plane]),
                    zz.next(state.field[kZz][at + 2 * plane])};
    update_velocity(state, rock, at, layout.row, plane, down, along_x * across);
  }
}

__global__ void __launch_bounds__(kBlockX* kBlockY)
    stress_points(Layout layout, Box box, State state, Rock rock, Damping damping, Kept kept) {
  const Column column = column_of(box);
  if (column.begin >= column.end) return;
  const std::ptrdiff_t plane = layout.plane;
  std::ptrdiff_t at = layout.index(column.x, column.y, column.begin);
  Window vx(state.field[kVx] + at + 2 * plane, plane);
  Window vy(state.field[kVy] + at + 2 * plane, plane);
  Window vz(state.field[kVz] + at + plane, plane);
  const float along_x = damping.x[column.x];
  const float along_y = damping.y[column.y];
  // Mechanisms alternate down z; of the eight a thread sees two.
  const int global_x = layout.first.x + column.x;
  const int global_y = layout.first.y + column.y;
  const float upper = kept.share[mechanism(global_x, global_y, 0)];
  const float lower = kept.share[mechanism(global_x, global_y, 1)];
  for (int z = column.begin; z < column.end; ++z, at += plane) {
    const float across = along_y * damping.z[z];
    const Down down{vx.next(state.field[kVx][at + 2 * plane]),
                    vy.next(state.field[kVy][at + 2 * plane]),
                    vz.next(state.field[kVz][at + plane])};
    const float keep = ((layout.first.z + z) & 1) != 0 ? lower : upper;
    update_stress(state, rock, at, layout.row, plane, down, keep, along_x * across);
  }
}

// A column of the surface; false outside of the box.
__device__ inline bool surface_point(const Layout& layout, const Box& box, std::ptrdiff_t* at) {
  const int x = static_cast<int>(box.begin.x + blockIdx.x * kBlockX + threadIdx.x);
  const int y = static_cast<int>(box.begin.y + blockIdx.y * kBlockY + threadIdx.y);
  *at = layout.index(x, y, 0);
  return x < box.end.x && y < box.end.y;
}

__global__ void mirror_velocities(Layout layout, Box box, State state, Rock rock) {
  std::ptrdiff_t at = 0;
  if (surface_point(layout, box, &at)) mirror_velocity(state, rock, at, layout.row, layout.plane);
}

__global__ void mirror_stresses(Layout layout, Box box, State state) {
  std::ptrdiff_t at = 0;
  if (surface_point(layout, box, &at)) mirror_stress(state, at, layout.plane);
}

// One thread a shot; no two share a value.
__global__ void add_shots(const Shot* shots, int count, float rate, State state) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) state.field[shots[i].field][shots[i].at] += shots[i].weight * rate;
}

__global__ void record_points(const std::ptrdiff_t* points, int count, State state, float* to) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  for (int c = 0; c < kComponents; ++c) to[i * kComponents + c] = state.field[kVx + c][points[i]];
}

__global__ void pack_planes(Planes planes, State state, float* message) {
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (number >= planes.values()) return;
  const PlaceOfValue place = place_of(planes, number);
  message[number] = state.field[place.field][place.at];
}

__global__ void unpack_planes(Planes planes, const float* message, State state) {
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (number >= planes.values()) return;
  const PlaceOfValue place = place_of(planes, number);
  state.field[place.field][place.at] = message[number];
}

__global__ void lay_rocks(Layout layout, RockTable table, Medium medium, RockArrays arrays) {
  const int x = static_cast<int>(blockIdx.x * kBlockX + threadIdx.x) - kHalo;
  const int y = static_cast<int>(blockIdx.y * kBlockY + threadIdx.y) - kHalo;
  const int z = static_cast<int>(blockIdx.z) - kHalo;
  if (x >= layout.own.x + kHalo || y >= layout.own.y + kHalo) return;
  const Extents point{layout.first.x + x, layout.first.y + y, layout.first.z + z};
  lay_rock(table, medium, layout.grid, point, layout.index(x, y, z), arrays);
}

// sums[0]: of prints; sums[1]: the bits of the largest velocity, which rise with it, NaN above all.
__global__ void sum_points(Layout layout, State state, unsigned long long* sums) {
  const Column column = column_of({{0, 0, 0}, layout.own});
  unsigned long long prints = 0;
  unsigned int largest = 0;
  for (int z = column.begin; z < column.end; ++z) {
    const std::ptrdiff_t at = layout.index(column.x, column.y, z);
    const Extents point{layout.first.x + column.x, layout.first.y + column.y, layout.first.z + z};
    for (int i = 0; i < kWaveFields; ++i) {
      const unsigned int bits = __float_as_uint(state.field[i][at]);
      prints += print_of(layout.grid, point, i, bits);
      if (i <= kVz) largest = max(largest, bits & 0x7FFFFFFFU);
    }
  }
  atomicAdd(&sums[0], prints);
  atomicMax(&sums[1], static_cast<unsigned long long>(largest));
}

}  // namespace
}  // namespace seismic
