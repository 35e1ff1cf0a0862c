// A stream: what is put in runs in order on a thread of its own, while the caller goes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "native/nccl_abi.h"

namespace fake_nccl {
struct Graph;
}  // namespace fake_nccl

struct CUstream_st {
 public:
  CUstream_st();
  ~CUstream_st();  // does what is left first

  void put(std::function<void()> task);
  // The graph that keeps tasks for replays while the stream is captured, in place of running them.
  std::shared_ptr<fake_nccl::Graph> captured;
  const unsigned long long id;
  void wait();
  bool idle();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // the first one is running
  bool ends_ = false;
  std::thread worker_;
};

namespace fake_nccl {

// The one that a null handle means.
CUstream_st& stream_of(cudaStream_t stream);

// Makes each stream's coming tasks wait for all tasks that any of them has now.
void join(const std::vector<cudaStream_t>& streams);

// If the stream is being captured, keeps `enqueue`, which puts something on a stream, and returns
// true.
bool is_kept(cudaStream_t stream, std::function<void(cudaStream_t)> enqueue);

// CUDA's error of whoever puts something on a stream whose capture is invalid; else 0.
int capture_error(cudaStream_t stream);
// The same of what must not be asked of a captured stream: the capture is invalid from then on.
int refuse_captured(cudaStream_t stream);
// The id of the capture that the stream is part of; 0 if it is part of none.
unsigned long long capture_id(cudaStream_t stream);

}  // namespace fake_nccl
