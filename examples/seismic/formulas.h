// The arithmetic of one grid point, in the same order on the CPU and on a GPU: compiled without
// fused multiply-add, both give the same bits.
//
// The grid is staggered, half a spacing up each axis that a name has on its own: normal stresses at
// (x, y, z), vx at (x + 1/2, y, z), sxy at (x + 1/2, y + 1/2, z), and so on. Derivatives are of 4th
// order in space, steps of 2nd order in time; velocities lie half a step before the stresses.
#pragma once

#include <cmath>
#include <cstddef>

#ifdef __CUDACC__
#define SEISMIC_HOST_DEVICE __host__ __device__ __forceinline__
#else
// Compilers do not vectorise a loop around a call.
#define SEISMIC_HOST_DEVICE [[gnu::always_inline]] inline
#endif

namespace seismic {

enum Field { kVx, kVy, kVz, kXx, kYy, kZz, kXy, kXz, kYz, kWaveFields, kMemory = kWaveFields };
inline constexpr int kStresses = 6;
inline constexpr int kAllFields = kWaveFields + kStresses;  // with a memory variable a stress

// Operations of update_velocity() and update_stress() a point, counted in their source, a division
// as one; sponge and silence included.
inline constexpr int kVelocityFlops = 69;
inline constexpr int kStressFlops = 146;
// The least that an update has to read and write a point: each value once.
inline constexpr int kVelocityBytes = 4 * (6 + 2 * 3 + 1);
inline constexpr int kStressBytes = 4 * (3 + 2 * 6 + 2 * 6 + 4);

// Arrays of a part; each is indexed by Part::index().
struct State {
  float* field[kAllFields];
};

// Coefficients of a rock in a step, at the place of the normal stresses.
struct Rock {
  const float* buoyancy;    // dt / spacing / density
  const float* p_modulus;   // dt / spacing * (lambda + 2 mu), unrelaxed
  const float* compliance;  // 1 / (dt / spacing * mu), unrelaxed
  const float* p_loss;      // of the point's own relaxation mechanism (medium.h)
  const float* s_loss;
};

// Ahead of a wave front values fall to subnormals, which slow the arithmetic down many times over.
// What lies this far below any signal is set to zero instead.
inline constexpr float kSilence = 1e-30F;

SEISMIC_HOST_DEVICE float audible(float value) {
  return std::fabs(value) < kSilence ? 0.0F : value;
}

// The derivative, times the spacing, half way between b and c.
SEISMIC_HOST_DEVICE float slope(float a, float b, float c, float d) {
  return 9.0F / 8.0F * (c - b) - 1.0F / 24.0F * (d - a);
}

// Half a spacing after the value at f, along the axis whose neighbours lie `step` apart; and
// before.
SEISMIC_HOST_DEVICE float ahead(const float* f, std::ptrdiff_t step) {
  return slope(f[-step], f[0], f[step], f[2 * step]);
}
SEISMIC_HOST_DEVICE float behind(const float* f, std::ptrdiff_t step) {
  return slope(f[-2 * step], f[-step], f[0], f[step]);
}

SEISMIC_HOST_DEVICE float moved(float v, float buoyancy, float neighbours, float dx, float dy,
                                float dz, float damping) {
  const float average = 0.5F * (buoyancy + neighbours);
  return audible(damping * (v + average * (dx + dy + dz)));
}

// The derivatives down the z axis are the caller's: a GPU's threads go along it and keep what they
// have read in registers.
struct Down {
  float first;
  float second;
  float third;
};

// From the stresses: `down` of sxz and syz after, of szz ahead.
SEISMIC_HOST_DEVICE void update_velocity(const State& state, const Rock& rock, std::ptrdiff_t at,
                                         std::ptrdiff_t row, std::ptrdiff_t plane, Down down,
                                         float damping) {
  float* const* f = state.field;
  const float* b = rock.buoyancy + at;
  const float vx = moved(f[kVx][at], b[0], b[1], ahead(f[kXx] + at, 1), behind(f[kXy] + at, row),
                         down.first, damping);
  const float vy = moved(f[kVy][at], b[0], b[row], behind(f[kXy] + at, 1), ahead(f[kYy] + at, row),
                         down.second, damping);
  const float vz = moved(f[kVz][at], b[0], b[plane], behind(f[kXz] + at, 1),
                         behind(f[kYz] + at, row), down.third, damping);
  // All is read before anything is written: a compiler cannot know that the arrays are apart.
  f[kVx][at] = vx;
  f[kVy][at] = vy;
  f[kVz][at] = vz;
}

struct Relaxed {
  float stress;
  float memory;
};

// A standard linear solid's stress after a step that would add `elastic` to it without loss. The
// memory variable keeps the share `keep` and takes up `lost`.
SEISMIC_HOST_DEVICE Relaxed relaxed(float stress, float memory, float elastic, float lost,
                                    float keep, float damping) {
  const float after = keep * memory - lost;
  return {audible(damping * (stress + elastic + 0.5F * (memory + after))),
          audible(damping * after)};
}

SEISMIC_HOST_DEVICE void store(const State& state, int field, std::ptrdiff_t at, Relaxed value) {
  state.field[field][at] = value.stress;
  state.field[field + kMemory - kXx][at] = value.memory;
}

// From the velocities: `down` of vx and vy ahead, of vz after.
SEISMIC_HOST_DEVICE void update_stress(const State& state, const Rock& rock, std::ptrdiff_t at,
                                       std::ptrdiff_t row, std::ptrdiff_t plane, Down down,
                                       float keep, float damping) {
  float* const* f = state.field;
  float* const* m = f + kMemory - kXx;
  const float* c = rock.compliance + at;
  const float p_loss = rock.p_loss[at];
  const float s_loss = rock.s_loss[at];

  const float xx = behind(f[kVx] + at, 1);
  const float yy = behind(f[kVy] + at, row);
  const float zz = down.third;
  const float two_mu = 2.0F / c[0];
  const float volume = rock.p_modulus[at] * (xx + yy + zz);
  const float lost = p_loss * volume;
  const float across_x = two_mu * (yy + zz);
  const float across_y = two_mu * (xx + zz);
  const float across_z = two_mu * (xx + yy);
  const Relaxed new_xx =
      relaxed(f[kXx][at], m[kXx][at], volume - across_x, lost - s_loss * across_x, keep, damping);
  const Relaxed new_yy =
      relaxed(f[kYy][at], m[kYy][at], volume - across_y, lost - s_loss * across_y, keep, damping);
  const Relaxed new_zz =
      relaxed(f[kZz][at], m[kZz][at], volume - across_z, lost - s_loss * across_z, keep, damping);

  // Shear stresses lie between four points; the mean of compliances keeps interfaces in place.
  const float mu_xy = 4.0F / (c[0] + c[1] + c[row] + c[row + 1]);
  const float mu_xz = 4.0F / (c[0] + c[1] + c[plane] + c[plane + 1]);
  const float mu_yz = 4.0F / (c[0] + c[row] + c[plane] + c[plane + row]);
  const float xy = mu_xy * (ahead(f[kVx] + at, row) + ahead(f[kVy] + at, 1));
  const float xz = mu_xz * (down.first + ahead(f[kVz] + at, 1));
  const float yz = mu_yz * (down.second + ahead(f[kVz] + at, row));
  const Relaxed new_xy = relaxed(f[kXy][at], m[kXy][at], xy, s_loss * xy, keep, damping);
  const Relaxed new_xz = relaxed(f[kXz][at], m[kXz][at], xz, s_loss * xz, keep, damping);
  const Relaxed new_yz = relaxed(f[kYz][at], m[kYz][at], yz, s_loss * yz, keep, damping);

  store(state, kXx, at, new_xx);
  store(state, kYy, at, new_yy);
  store(state, kZz, at, new_zz);
  store(state, kXy, at, new_xy);
  store(state, kXz, at, new_xz);
  store(state, kYz, at, new_yz);
}

// The free surface lies in the plane z = 0 of the normal stresses. What lies above it is set so
// that the formulas below see no traction.
//
// Velocities: the stretch down z that leaves szz = 0, and differences of 2nd order across the
// surface, to which the 4th-order ones reduce with the values chosen here.
SEISMIC_HOST_DEVICE void mirror_velocity(const State& state, const Rock& rock, std::ptrdiff_t at,
                                         std::ptrdiff_t row, std::ptrdiff_t plane) {
  float* vx = state.field[kVx] + at;
  float* vy = state.field[kVy] + at;
  float* vz = state.field[kVz] + at;
  const float two_mu = 2.0F / rock.compliance[at];
  const float share = 1.0F - two_mu / rock.p_modulus[at];
  const float stretch = -share * (behind(vx, 1) + behind(vy, row));
  vz[-plane] = vz[0] - stretch;
  vz[-2 * plane] = vz[plane] - 3.0F * stretch;
  vx[-plane] = vx[2 * plane] - 3.0F * (vx[plane] - vx[0]);
  vy[-plane] = vy[2 * plane] - 3.0F * (vy[plane] - vy[0]);
}

// Stresses: those with a part along z are odd about the surface.
SEISMIC_HOST_DEVICE void mirror_stress(const State& state, std::ptrdiff_t at,
                                       std::ptrdiff_t plane) {
  float* zz = state.field[kZz] + at;
  float* xz = state.field[kXz] + at;
  float* yz = state.field[kYz] + at;
  zz[0] = 0;
  zz[-plane] = -zz[plane];
  xz[-plane] = -xz[0];
  xz[-2 * plane] = -xz[plane];
  yz[-plane] = -yz[0];
  yz[-2 * plane] = -yz[plane];
}

// The relaxation mechanism of a point: they alternate along each axis, eight of them in a cube of
// two points a side. Global indices.
SEISMIC_HOST_DEVICE int mechanism(int x, int y, int z) {
  return (x & 1) + 2 * (y & 1) + 4 * (z & 1);
}

}  // namespace seismic
