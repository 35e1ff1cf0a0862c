// A stream: what is put in runs in order on a thread of its own, while the caller goes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "abi/nccl_abi.h"

struct CUstream_st {
 public:
  CUstream_st();
  ~CUstream_st();  // does what is left first

  void put(std::function<void()> task);
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

}  // namespace fake_nccl
