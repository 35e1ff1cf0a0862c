#include <algorithm>
#include <cmath>
#include <cstring>

#include "formulas.h"
#include "solver.h"

namespace seismic {
namespace {

class CpuSolver : public Solver {
 public:
  explicit CpuSolver(const Setup& setup)
      : setup_(setup),
        values_(kAllFields * setup.part.volume, 0.0F),
        rocks_(5 * setup.part.volume, 0.0F),
        records_(setup.receivers.points.size() * kComponents * setup.steps, 0.0F) {
    const std::ptrdiff_t volume = setup.part.volume;
    for (int i = 0; i < kAllFields; ++i) state_.field[i] = values_.data() + i * volume;
    float* rocks = rocks_.data();
    const RockArrays arrays{rocks, rocks + volume, rocks + 2 * volume, rocks + 3 * volume,
                            rocks + 4 * volume};
    rock_ = {arrays.buoyancy, arrays.p_modulus, arrays.compliance, arrays.p_loss, arrays.s_loss};
    lay_rocks(arrays);
  }

  void update_velocity(const Box& box) override {
    for_each_row(box, [this, &box](int y, int z) { velocity_row(box, y, z); });
  }
  void update_stress(const Box& box) override {
    for_each_row(box, [this, &box](int y, int z) { stress_row(box, y, z); });
  }

  void mirror_velocity(const Box& box) override {
    const Part& part = setup_.part;
    for_each_column(box, [this, &part](std::ptrdiff_t at) {
      seismic::mirror_velocity(state_, rock_, at, part.row, part.plane);
    });
  }
  void mirror_stress(const Box& box) override {
    const Part& part = setup_.part;
    for_each_column(
        box, [this, &part](std::ptrdiff_t at) { seismic::mirror_stress(state_, at, part.plane); });
  }

  void add_source(int step) override {
    for (const Shot& shot : setup_.shots) {
      state_.field[shot.field][shot.at] += shot.weight * setup_.rates[step];
    }
  }

  void record(int step) override {
    float* to = records_.data() + step * setup_.receivers.points.size() * kComponents;
    for (const std::ptrdiff_t at : setup_.receivers.points) {
      for (int i = 0; i < kComponents; ++i) *to++ = state_.field[kVx + i][at];
    }
  }

  void pack(const Planes& planes, float* message) override {
    for_each_run(planes, [&planes, &message](float* from) {
      for (int i = 0; i < planes.columns; ++i) *message++ = from[i * planes.column_step];
    });
  }
  void unpack(const Planes& planes, const float* message) override {
    for_each_run(planes, [&planes, &message](float* to) {
      for (int i = 0; i < planes.columns; ++i) to[i * planes.column_step] = *message++;
    });
  }

  void wait() override {}
  std::vector<float> records() override { return records_; }

  std::uint64_t fingerprint() override {
    std::uint64_t sum = 0;
    const Part& part = setup_.part;
    for_each_row(part.all(), [this, &part, &sum](int y, int z) {
      for (int x = 0; x < part.own.x; ++x) {
        const Extents point{part.first.x + x, part.first.y + y, part.first.z + z};
        for (int i = 0; i < kWaveFields; ++i) {
          std::uint32_t bits = 0;
          std::memcpy(&bits, &state_.field[i][part.index(x, y, z)], sizeof bits);
          sum += print_of(part.grid, point, i, bits);
        }
      }
    });
    return sum;
  }

  float peak() override {
    float found = 0;
    const Part& part = setup_.part;
    for_each_row(part.all(), [this, &part, &found](int y, int z) {
      for (int i = kVx; i <= kVz; ++i) {
        const float* row = state_.field[i] + part.index(0, y, z);
        for (int x = 0; x < part.own.x; ++x) {
          if (!(std::fabs(row[x]) <= found)) found = std::fabs(row[x]);
        }
      }
    });
    return found;
  }

 private:
  template <typename Work>
  void for_each_row(const Box& box, Work work) {
    if (box.empty()) return;
    for (int z = box.begin.z; z < box.end.z; ++z) {
      for (int y = box.begin.y; y < box.end.y; ++y) work(y, z);
    }
  }

  // At the free surface.
  template <typename Work>
  void for_each_column(const Box& box, Work work) {
    const bool at_surface = setup_.model.free_surface && setup_.part.first.z == 0;
    if (!at_surface || box.begin.z > 0 || box.empty()) return;
    for (int y = box.begin.y; y < box.end.y; ++y) {
      for (int x = box.begin.x; x < box.end.x; ++x) work(setup_.part.index(x, y, 0));
    }
  }

  // Rows of a message, in their order.
  template <typename Work>
  void for_each_run(const Planes& planes, Work work) {
    for (std::int64_t number = 0; number < planes.values(); number += planes.columns) {
      const PlaceOfValue place = place_of(planes, number);
      work(state_.field[place.field] + place.at);
    }
  }

  void lay_rocks(const RockArrays& arrays) {
    const Part& part = setup_.part;
    const Box with_halos{{-kHalo, -kHalo, -kHalo},
                         {part.own.x + kHalo, part.own.y + kHalo, part.own.z + kHalo}};
    for_each_row(with_halos, [this, &part, &arrays, &with_halos](int y, int z) {
      for (int x = with_halos.begin.x; x < with_halos.end.x; ++x) {
        const Extents point{part.first.x + x, part.first.y + y, part.first.z + z};
        lay_rock(setup_.rocks, setup_.model.medium, part.grid, point, part.index(x, y, z), arrays);
      }
    });
  }

  // No value of a row depends on another one of the same update, which compilers cannot see.
  void velocity_row(const Box& box, int y, int z) {
    const Part& part = setup_.part;
    const std::ptrdiff_t begin = part.index(0, y, z);
    const float across = setup_.sponge.y[y] * setup_.sponge.z[z];
    const float* along = setup_.sponge.x.data();
    const State state = state_;
    const Rock rock = rock_;
    const std::ptrdiff_t plane = part.plane;
#pragma GCC ivdep
    for (int x = box.begin.x; x < box.end.x; ++x) {
      const std::ptrdiff_t at = begin + x;
      const Down down{behind(state.field[kXz] + at, plane), behind(state.field[kYz] + at, plane),
                      ahead(state.field[kZz] + at, plane)};
      seismic::update_velocity(state, rock, at, part.row, plane, down, along[x] * across);
    }
  }

  void stress_row(const Box& box, int y, int z) {
    const Part& part = setup_.part;
    const std::ptrdiff_t begin = part.index(0, y, z);
    const float across = setup_.sponge.y[y] * setup_.sponge.z[z];
    const float* along = setup_.sponge.x.data();
    const int even = mechanism(0, part.first.y + y, part.first.z + z);
    const float kept[2] = {setup_.kept[even], setup_.kept[even + 1]};
    const State state = state_;
    const Rock rock = rock_;
    const std::ptrdiff_t plane = part.plane;
#pragma GCC ivdep
    for (int x = box.begin.x; x < box.end.x; ++x) {
      const std::ptrdiff_t at = begin + x;
      const Down down{ahead(state.field[kVx] + at, plane), ahead(state.field[kVy] + at, plane),
                      behind(state.field[kVz] + at, plane)};
      const float keep = ((part.first.x + x) & 1) != 0 ? kept[1] : kept[0];
      seismic::update_stress(state, rock, at, part.row, plane, down, keep, along[x] * across);
    }
  }

  Setup setup_;
  std::vector<float> values_;
  std::vector<float> rocks_;
  std::vector<float> records_;
  State state_{};
  Rock rock_{};
};

}  // namespace

std::unique_ptr<Solver> make_cpu_solver(const Setup& setup) {
  return std::make_unique<CpuSolver>(setup);
}

#ifndef EXAMPLES_CUDA
// Nobody gets this far without a GPU.
std::unique_ptr<Solver> make_gpu_solver(const Setup&) { return nullptr; }
#endif

}  // namespace seismic
