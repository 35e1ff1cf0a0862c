#include <algorithm>
#include <utility>
#include <vector>

#include "examples/common/cuda_error.h"
#include "examples/common/memory.h"
#include "gpu_kernels.cuh"
#include "solver.h"

namespace seismic {
namespace {

using examples::Array;
using examples::check;
using examples::Place;
using examples::uploaded;

int blocks(std::int64_t count, int block) { return static_cast<int>((count + block - 1) / block); }

class GpuSolver : public Solver {
 public:
  explicit GpuSolver(const Setup& setup)
      : setup_(setup),
        values_(Place::kGpu, kAllFields * setup.part.volume),
        rocks_(Place::kGpu, 5 * setup.part.volume),
        sponge_x_(uploaded(setup.sponge.x)),
        sponge_y_(uploaded(setup.sponge.y)),
        sponge_z_(uploaded(setup.sponge.z)),
        shots_(uploaded(setup.shots)),
        receivers_(uploaded(setup.receivers.points)),
        records_(Place::kGpu, setup.receivers.points.size() * kComponents * setup.steps),
        sums_(Place::kGpu, 2) {
    const Part& part = setup.part;
    for (int i = 0; i < kAllFields; ++i) state_.field[i] = values_.data() + i * part.volume;
    float* rocks = rocks_.data();
    const RockArrays arrays{rocks, rocks + part.volume, rocks + 2 * part.volume,
                            rocks + 3 * part.volume, rocks + 4 * part.volume};
    rock_ = {arrays.buoyancy, arrays.p_modulus, arrays.compliance, arrays.p_loss, arrays.s_loss};
    layout_ = {part.row, part.plane, part.index(0, 0, 0), part.own, part.first, part.grid};
    damping_ = {sponge_x_.data(), sponge_y_.data(), sponge_z_.data()};
    std::copy(setup.kept.begin(), setup.kept.end(), kept_.share);
    const Extents padded{part.own.x + 2 * kHalo, part.own.y + 2 * kHalo, part.own.z + 2 * kHalo};
    const dim3 grid(blocks(padded.x, kBlockX), blocks(padded.y, kBlockY), padded.z);
    lay_rocks<<<grid, dim3(kBlockX, kBlockY)>>>(layout_, setup.rocks, setup.model.medium, arrays);
    check(cudaGetLastError(), "laying the rocks");
  }

  void update_velocity(const Box& box) override {
    if (box.empty()) return;
    velocity_points<<<grid_of(box), dim3(kBlockX, kBlockY)>>>(layout_, box, state_, rock_,
                                                              damping_);
    check(cudaGetLastError(), "updating velocities");
  }
  void update_stress(const Box& box) override {
    if (box.empty()) return;
    stress_points<<<grid_of(box), dim3(kBlockX, kBlockY)>>>(layout_, box, state_, rock_, damping_,
                                                            kept_);
    check(cudaGetLastError(), "updating stresses");
  }

  void mirror_velocity(const Box& box) override {
    if (!at_surface(box)) return;
    mirror_velocities<<<columns_of(box), dim3(kBlockX, kBlockY)>>>(layout_, box, state_, rock_);
    check(cudaGetLastError(), "mirroring velocities");
  }
  void mirror_stress(const Box& box) override {
    if (!at_surface(box)) return;
    mirror_stresses<<<columns_of(box), dim3(kBlockX, kBlockY)>>>(layout_, box, state_);
    check(cudaGetLastError(), "mirroring stresses");
  }

  void add_source(int step) override {
    const auto count = static_cast<int>(shots_.size());
    if (count == 0) return;
    add_shots<<<blocks(count, kLine), kLine>>>(shots_.data(), count, setup_.rates[step], state_);
    check(cudaGetLastError(), "adding the source");
  }

  void record(int step) override {
    const auto count = static_cast<int>(receivers_.size());
    if (count == 0) return;
    float* to = records_.data() + static_cast<std::size_t>(step) * count * kComponents;
    record_points<<<blocks(count, kLine), kLine>>>(receivers_.data(), count, state_, to);
    check(cudaGetLastError(), "recording");
  }

  void pack(const Planes& planes, float* message) override {
    pack_planes<<<blocks(planes.values(), kLine), kLine>>>(planes, state_, message);
    check(cudaGetLastError(), "packing halos");
  }
  void unpack(const Planes& planes, const float* message) override {
    unpack_planes<<<blocks(planes.values(), kLine), kLine>>>(planes, message, state_);
    check(cudaGetLastError(), "unpacking halos");
  }

  void wait() override { examples::wait_for_gpu(); }

  std::vector<float> records() override {
    std::vector<float> values(records_.size());
    examples::copy(values.data(), records_.data(), values.size());
    wait();
    return values;
  }

  std::uint64_t fingerprint() override { return sums().first; }
  float peak() override {
    const auto bits = static_cast<unsigned int>(sums().second);
    float value = 0;
    static_assert(sizeof value == sizeof bits);
    std::copy_n(reinterpret_cast<const char*>(&bits), sizeof bits, reinterpret_cast<char*>(&value));
    return value;
  }

 private:
  static dim3 columns_of(const Box& box) {
    return {static_cast<unsigned>(blocks(box.end.x - box.begin.x, kBlockX)),
            static_cast<unsigned>(blocks(box.end.y - box.begin.y, kBlockY))};
  }
  // Blocks begin at whole cache lines, also where the box does not.
  static dim3 grid_of(const Box& box) {
    const int begin = box.begin.x / kBlockX * kBlockX;
    return {static_cast<unsigned>(blocks(box.end.x - begin, kBlockX)),
            static_cast<unsigned>(blocks(box.end.y - box.begin.y, kBlockY)),
            static_cast<unsigned>(blocks(box.end.z - box.begin.z, kMarch))};
  }
  bool at_surface(const Box& box) const {
    return setup_.model.free_surface && setup_.part.first.z == 0 && box.begin.z == 0 &&
           !box.empty();
  }

  std::pair<unsigned long long, unsigned long long> sums() {
    const unsigned long long zeros[2] = {0, 0};
    unsigned long long found[2];
    examples::copy(sums_.data(), zeros, 2);
    const Extents& own = setup_.part.own;
    const dim3 grid(blocks(own.x, kBlockX), blocks(own.y, kBlockY), blocks(own.z, kMarch));
    sum_points<<<grid, dim3(kBlockX, kBlockY)>>>(layout_, state_, sums_.data());
    check(cudaGetLastError(), "summing up");
    examples::copy(found, sums_.data(), 2);
    wait();
    return {found[0], found[1]};
  }

  Setup setup_;
  Array<float> values_;
  Array<float> rocks_;
  Array<float> sponge_x_;
  Array<float> sponge_y_;
  Array<float> sponge_z_;
  Array<Shot> shots_;
  Array<std::ptrdiff_t> receivers_;
  Array<float> records_;
  Array<unsigned long long> sums_;
  State state_{};
  Rock rock_{};
  Layout layout_{};
  Damping damping_{};
  Kept kept_{};
};

}  // namespace

std::unique_ptr<Solver> make_gpu_solver(const Setup& setup) {
  auto solver = std::make_unique<GpuSolver>(setup);
  solver->wait();
  return solver;
}

}  // namespace seismic
