// A collective of floats as the enqueue-only driver runs it, with all that it needs.
#pragma once

#include <memory>
#include <string>

#include "codec/spec.h"
#include "collective/algorithms.h"
#include "collective/cutting.h"
#include "collective/enqueued/enqueue.h"
#include "collective/enqueued/stream_engine.h"
#include "nccl_rank.h"

namespace thinwire::nccl_test {

struct Kind {
  plan::Operation operation;
  std::string spec;
  plan::Reduction reduction = plan::Reduction::kSum;
  std::uint64_t piece_bytes = std::uint64_t{1} << 40;  // one piece a block
  std::uint32_t window = 1;
};

// `count` floats of each rank in an Allgather, of the whole array in an Allreduce; both by a ring.
class RingCollective {
 public:
  RingCollective(const Rank& rank, const Kind& kind, std::uint64_t count)
      : rank_(rank), kind_(kind), spec_(parsed(kind.spec)), count_(count) {
    settings_ = {.spec = spec_,
                 .dtype = Dtype::kF32,
                 .reduction = kind.reduction,
                 .mark = frame::file_mark(),
                 .on_device = true};
    engine_ = std::make_unique<collective::StreamEngine>(settings_, rank.stream);
    const auto* row =
        collective::find_algorithm(kind.operation, plan::Algorithm::kRing, plan::Coding::kOnce);
    schedule_ = row->make({rank.number, kRanks, 0, {}});
    const collective::Cutter cutter(spec_, Dtype::kF32, kind.piece_bytes);
    for (std::uint32_t block = 0; block < schedule_.blocks; ++block) {
      blocks_.push_back(gathers() ? cutter.whole(count) : cutter.part(count, block, kRanks));
    }
    program_.build(schedule_, blocks_, false, kind.window);
    good(plan_.prepare(*row, schedule_, blocks_, program_, settings_, *engine_), kind.spec);
    memory_ = std::make_unique<DeviceMemory>(plan_.device_bytes());
    outcomes_ = std::make_unique<PinnedWords>(plan_.outcomes());
    in = std::make_unique<DeviceMemory>(count * sizeof(float));
    out = std::make_unique<DeviceMemory>((gathers() ? kRanks : 1) * count * sizeof(float));
    place();
  }
  ~RingCollective() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  }

  bool gathers() const { return kind_.operation == plan::Operation::kAllgather; }
  std::span<const collective::Block> blocks() const { return blocks_; }
  const codec::Spec& spec() const { return spec_; }
  std::uint64_t wire_bytes() const { return plan_.wire_bytes(); }

  void enqueue() {
    good(plan_.enqueue({inputs_, outputs_}, {memory_->data(), outcomes_->data()}, *engine_,
                       *rank_.transport, rank_.stream),
         "enqueue");
  }

  void capture() {
    cudaGraph_t graph = nullptr;
    cuda(cudaStreamBeginCapture(rank_.stream, cudaStreamCaptureModeRelaxed), "begin of a capture");
    enqueue();
    cuda(cudaStreamEndCapture(rank_.stream, &graph), "end of a capture");
    cuda(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
    cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }

  void replay() { cuda(cudaGraphLaunch(graph_, rank_.stream), "cudaGraphLaunch"); }

  // Forgets the last run, all ranks at once.
  void forget() {
    rank_.finish();
    rank_.meet();
    outcomes_->clear();
    const std::uint64_t bytes = (gathers() ? kRanks : 1) * count_ * sizeof(float);
    cuda(cudaMemsetAsync(out->data(), 0x5A, bytes, rank_.stream), "cudaMemset");
    rank_.finish();
    rank_.meet();
  }

  Status check() { return plan_.check(outcomes_->data()); }

  std::unique_ptr<DeviceMemory> in, out;

 private:
  static codec::Spec parsed(const std::string& text) {
    const auto spec = codec::parse_spec(text);
    good(spec.status(), text);
    return *spec;
  }

  void place() {
    for (std::uint32_t block = 0; block < schedule_.blocks; ++block) {
      const std::uint64_t offset = blocks_[block].offset * sizeof(float);
      std::byte* const begin = out->data() + (gathers() ? block * count_ * sizeof(float) : 0);
      const bool has_input = !gathers() || static_cast<int>(block) == rank_.number;
      inputs_.push_back(has_input ? in->data() + offset : nullptr);
      outputs_.push_back(begin + offset);
    }
  }

  const Rank& rank_;
  Kind kind_;
  codec::Spec spec_;
  std::uint64_t count_;
  collective::EngineSettings settings_;
  collective::Schedule schedule_;
  std::vector<collective::Block> blocks_;
  collective::Program program_;
  collective::Enqueuer plan_;
  std::unique_ptr<collective::StreamEngine> engine_;
  std::unique_ptr<DeviceMemory> memory_;
  std::unique_ptr<PinnedWords> outcomes_;
  std::vector<std::byte*> inputs_, outputs_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace thinwire::nccl_test
