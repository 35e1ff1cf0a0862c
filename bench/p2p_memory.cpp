#include "p2p_memory.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace thinwire::bench {
namespace {

class HostBuffer : public Buffer {
 public:
  explicit HostBuffer(std::size_t count) : values_(count) {}

  float* message() override { return values_.data(); }
  void write(std::span<const float> values) override {
    std::copy(values.begin(), values.end(), values_.begin());
  }
  void read(std::span<float> values) override {
    std::copy_n(values_.begin(), values.size(), values.begin());
  }
  void clear() override { std::memset(values_.data(), 0xff, values_.size() * sizeof(float)); }

 private:
  std::vector<float> values_;
};

}  // namespace

std::unique_ptr<Buffer> make_buffer(Memory memory, std::size_t count) {
#ifdef THINWIRE_CUDA
  if (memory == Memory::kDevice) return make_device_buffer(count);
  if (memory == Memory::kStaged) return make_staged_buffer(count);
#else
  (void)memory;
#endif
  return std::make_unique<HostBuffer>(count);
}

bool choose_gpu(int local_rank, Gpu* gpu, std::string* error) {
#ifdef THINWIRE_CUDA
  return set_gpu(local_rank, gpu, error);
#else
  (void)local_rank;
  (void)gpu;
  *error = "this build has no GPU side: it was made without nvcc";
  return false;
#endif
}

}  // namespace thinwire::bench
