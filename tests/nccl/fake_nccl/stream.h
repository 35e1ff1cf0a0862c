// A stream: what is put in runs in order on a thread of its own, while the caller goes on.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "../../task_queue.h"
#include "native/nccl_abi.h"

namespace fake_nccl {
struct Graph;
}  // namespace fake_nccl

struct CUstream_st : TaskQueue {
  CUstream_st();
  ~CUstream_st() { wait(); }  // before what tasks may look at goes

  // The graph that keeps tasks for replays while the stream is captured, in place of running them.
  std::shared_ptr<fake_nccl::Graph> captured;
  const unsigned long long id;
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
