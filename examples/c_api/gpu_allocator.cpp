// The library's GPU memory from the program's own allocator. Programs of which one allocator holds
// all of a GPU (RMM's pool, say) have the library take what it needs from there; with RMM the two
// functions below call allocate_sync() and deallocate_sync() of a memory resource.
#include <cuda_runtime_api.h>
#include <thinwire/thinwire.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

namespace {

// A slab of GPU 0 from which pieces are cut at the first place that is large enough.
class Slab {
 public:
  bool open(std::uint64_t bytes) {
    bytes_ = bytes;
    return cudaMalloc(reinterpret_cast<void**>(&start_), bytes) == cudaSuccess;
  }
  ~Slab() { cudaFree(start_); }

  void* cut(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t wanted = (bytes + 255) / 256 * 256;
    std::uint64_t at = 0;
    for (const auto& [begin, length] : used_) {
      if (begin - at >= wanted) break;
      at = begin + length;
    }
    if (bytes_ - at < wanted) return nullptr;
    used_[at] = wanted;
    most_ = used_.size() > most_ ? used_.size() : most_;
    return start_ + at;
  }

  void put_back(void* piece) {
    const std::lock_guard lock(mutex_);
    used_.erase(static_cast<std::uint64_t>(static_cast<char*>(piece) - start_));
  }

  std::size_t pieces() const { return used_.size(); }
  std::size_t most() const { return most_; }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> used_;  // bytes, by offset
  std::size_t most_ = 0;
  std::uint64_t bytes_ = 0;
  char* start_ = nullptr;
};

std::int32_t allocate(void* slab, std::int32_t gpu, std::uint64_t bytes, void** memory) {
  if (gpu != 0) return 1;
  *memory = static_cast<Slab*>(slab)->cut(bytes);
  return *memory == nullptr ? 1 : 0;
}

void release(void* slab, std::int32_t, void* memory, std::uint64_t) {
  static_cast<Slab*>(slab)->put_back(memory);
}

int failed(const char* call) {
  std::fprintf(stderr, "%s: %s\n", call, tw_last_error());
  return 1;
}

}  // namespace

int main() {
  constexpr std::uint64_t kCount = 1 << 20;
  std::uint32_t gpus = 0;
  if (tw_device_count(&gpus) != TW_OK || gpus == 0) {
    std::printf("skipped: gpu_allocator: %s\n", tw_last_error());
    return 0;
  }
  static Slab slab;  // until the process ends, as the library may hold pieces of it
  if (!slab.open(std::uint64_t{256} << 20)) return failed("cudaMalloc");
  tw_device_allocator ours{};
  ours.size = sizeof ours;
  ours.context = &slab;
  ours.allocate = allocate;
  ours.release = release;
  if (tw_pool_set_device_allocator(&ours) != TW_OK) return failed("tw_pool_set_device_allocator");
  tw_pool_set_idle_bound(0);  // give every piece back at once

  tw_codec* codec = nullptr;
  if (tw_codec_create("mpc", &codec) != TW_OK) return failed("tw_codec_create");
  const tw_shape shape{TW_F32, 1, {kCount}};
  std::uint64_t bound = 0, written = 0;
  tw_message_bound(codec, &shape, &bound);
  float* array = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&array), sizeof(float) * kCount) != cudaSuccess) return 1;
  cudaMemset(array, 0, sizeof(float) * kCount);
  cudaDeviceSynchronize();

  // The frame goes to pageable memory, so the encode works in GPU memory that the slab gives.
  std::vector<unsigned char> frame(bound);
  if (tw_message_encode(codec, &shape, array, frame.data(), bound, nullptr, &written) != TW_OK) {
    return failed("tw_message_encode");
  }
  std::printf("%llu bytes in a frame of %llu; the slab gave %zu pieces at most, %zu are out\n",
              static_cast<unsigned long long>(sizeof(float) * kCount),
              static_cast<unsigned long long>(written), slab.most(), slab.pieces());
  tw_codec_destroy(codec);
  cudaFree(array);
  return slab.most() > 0 ? 0 : 1;
}
