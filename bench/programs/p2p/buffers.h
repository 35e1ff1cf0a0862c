// Memory of the messages of p2p and of the buffers of collective, on the host or on a GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace thinwire::bench {

enum class Memory {
  kHost,
  kDevice,  // on a GPU, and handed to MPI there
  kStaged,  // on a GPU, copied by hand through pinned host memory, which MPI sees
};

// Room for one message, allocated when made.
class Buffer {
 public:
  virtual ~Buffer() = default;

  // The pointer that MPI gets.
  virtual float* message() = 0;
  // Work that a program has to do by itself around MPI's calls; both are timed, and done on return.
  virtual void before_send() {}
  virtual void after_receive() {}

  // Writes values to where they belong, on the GPU for GPU memory. Not timed; done on return.
  virtual void write(std::span<const float> values) = 0;
  virtual void read(std::span<float> values) = 0;
  // Makes every value NaN, in all of the buffer's memory.
  virtual void clear() = 0;
};

// Room for `count` values. Throws std::runtime_error if the GPU has none left.
std::unique_ptr<Buffer> make_buffer(Memory memory, std::size_t count);

// The GPU of this process, as reports name it; both empty for host memory.
struct Gpu {
  std::string name;
  std::string bus;  // tells two GPUs of one machine apart, however they are numbered
};

// Makes GPU `local_rank` modulo their number this process's own. False and a sentence in `error`
// where there is none.
bool choose_gpu(int local_rank, Gpu* gpu, std::string* error);

}  // namespace thinwire::bench
