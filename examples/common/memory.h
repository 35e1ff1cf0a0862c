// Memory of the host and of the GPU that frees itself, and copies between the two. A build without
// CUDA has host memory alone.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace examples {

enum class Place {
  kHost,
  kPinned,  // of the host; the GPU copies to and from it at the full speed of the bus
  kGpu,
};

// Makes a GPU this process's own: number `local_rank` modulo how many there are. False and a
// sentence in `error` if there is none. Until it has succeeded there is host memory only.
bool choose_gpu(int local_rank, std::string* error);

// `bytes` bytes of zeros; nullptr for none. Errors end in std::runtime_error or std::bad_alloc.
void* allocate(Place place, std::size_t bytes);
void release(Place place, void* memory) noexcept;

// Between any two places. With a GPU chosen it may still run when the call returns; copies and
// kernels run in the order of their calls, on CUDA's default stream.
void copy_bytes(void* target, const void* source, std::size_t bytes);

// Returns when the GPU has done all it was told.
void wait_for_gpu();

template <typename Value>
void copy(Value* target, const Value* source, std::size_t count) {
  copy_bytes(target, source, count * sizeof(Value));
}

template <typename Value>
class Array {
 public:
  // All zeros.
  Array(Place place, std::size_t count)
      : place_(place),
        count_(count),
        data_(static_cast<Value*>(allocate(place, count * sizeof(Value)))) {}
  Array(Array&& other) noexcept
      : place_(other.place_), count_(other.count_), data_(std::exchange(other.data_, nullptr)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(place_, other.place_);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Array() { release(place_, data_); }

  Value* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  Place place_;
  std::size_t count_;
  Value* data_;
};

// Values of the host in GPU memory.
template <typename Value>
Array<Value> uploaded(const std::vector<Value>& values) {
  Array<Value> array(Place::kGpu, values.size());
  copy(array.data(), values.data(), values.size());
  wait_for_gpu();
  return array;
}

}  // namespace examples
