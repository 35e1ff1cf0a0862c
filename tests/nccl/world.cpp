#include "world.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace world {
namespace {

constexpr std::size_t kPiece = 64 << 20;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "failed: %s\n", what);
  std::_Exit(1);
}

#ifdef NCCL_ON_GPUS

void check(cudaError_t error) {
  if (error != cudaSuccess) fail(cudaGetErrorString(error));
}

cudaStream_t own_stream() {
  static thread_local cudaStream_t stream = [] {
    cudaStream_t made = nullptr;
    check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    return made;
  }();
  return stream;
}

void copy(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, own_stream()));
  check(cudaStreamSynchronize(own_stream()));
}

std::byte* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes));
  return static_cast<std::byte*>(memory);
}

void release(std::byte* memory) { cudaFree(memory); }

#else

void copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

std::byte* allocate(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) fail("no memory");
  return static_cast<std::byte*>(memory);
}

void release(std::byte* memory) { std::free(memory); }

#endif

}  // namespace

void use_gpu([[maybe_unused]] int number) {
#ifdef NCCL_ON_GPUS
  int found = 0;
  check(cudaGetDeviceCount(&found));
  check(cudaSetDevice(number % found));
#endif
}

void write(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) copy(to, from, bytes);
}

void read(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) copy(to, from, bytes);
}

void write_in_order(void* to, const Bytes& from, cudaStream_t stream) {
#ifdef NCCL_ON_GPUS
  check(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyDefault, stream));
#else
  struct Write {
    void* to;
    const Bytes* from;
  };
  cudaLaunchHostFunc(
      stream,
      [](void* of) {
        const auto* const write = static_cast<Write*>(of);
        std::memcpy(write->to, write->from->data(), write->from->size());
        delete write;
      },
      new Write{to, &from});
#endif
}

void keep_busy(cudaStream_t stream) {
#ifdef NCCL_ON_GPUS
  constexpr std::size_t kBytes = 8 << 20;
  static thread_local std::byte* const memory = allocate(kBytes);
  check(cudaMemsetAsync(memory, 1, kBytes, stream));
#else
  cudaLaunchHostFunc(stream, [](void*) {}, nullptr);
#endif
}

Arena::~Arena() {
  for (const Piece& each : pieces_) release(each.memory);
}

std::byte* Arena::take(std::size_t bytes, std::size_t off) {
  const std::size_t wanted = (bytes + off + 511) / 256 * 256;
  while (piece_ < pieces_.size() && pieces_[piece_].bytes - used_ < wanted) {
    ++piece_;
    used_ = 0;
  }
  if (piece_ == pieces_.size()) {
    const std::size_t size = std::max(kPiece, wanted);
    pieces_.push_back({allocate(size), size});
    used_ = 0;
  }
  std::byte* const found = pieces_[piece_].memory + used_ + off;
  used_ += wanted;
  return found;
}

std::byte* Arena::take(const Bytes& values, std::size_t off) {
  std::byte* const found = take(values.size(), off);
  write(found, values.data(), values.size());
  return found;
}

void Arena::give_back_all() { piece_ = used_ = 0; }

Bytes read(const std::byte* from, std::size_t bytes) {
  Bytes values(bytes);
  read(values.data(), from, bytes);
  return values;
}

}  // namespace world
