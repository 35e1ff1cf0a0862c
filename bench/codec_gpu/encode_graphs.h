// CUDA graphs of one encode each.
#pragma once

#include <algorithm>

#include "job.h"

namespace thinwire::bench {

// A graph for each slot that `wanted` calls touch.
class EncodeGraphs {
 public:
  EncodeGraphs(const Coder& coder, const Slots& slots, const Stream& stream,
               const PinnedWord& outcome, std::uint64_t wanted) {
    for (std::uint64_t slot = 0; slot < std::min(slots.count(), wanted); ++slot) {
      cudaGraph_t graph = nullptr;
      check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
      coder.encode(slots.array(slot), slots.frame(slot), outcome.get());
      check(cudaStreamEndCapture(stream.get(), &graph));
      cudaGraphExec_t runnable = nullptr;
      const cudaError_t error = cudaGraphInstantiate(&runnable, graph, 0);
      cudaGraphDestroy(graph);
      check(error);
      graphs_.push_back(runnable);
      check(cudaGraphUpload(runnable, stream.get()));
    }
    stream.finish();
  }
  EncodeGraphs(const EncodeGraphs&) = delete;
  EncodeGraphs& operator=(const EncodeGraphs&) = delete;
  ~EncodeGraphs() {
    for (const cudaGraphExec_t graph : graphs_) cudaGraphExecDestroy(graph);
  }

  void launch(int call, const Stream& stream) const {
    check(cudaGraphLaunch(graphs_[static_cast<std::size_t>(call) % graphs_.size()], stream.get()));
  }

 private:
  std::vector<cudaGraphExec_t> graphs_;
};

}  // namespace thinwire::bench
