// CUDA graphs as far as one stream's calls need them.
#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fake_cuda.h"
#include "stream.h"

struct CUuserObject_st {
  void* argument;
  cudaHostFn_t release;
};

namespace fake_nccl {

struct Graph {
  unsigned long long id = 0;
  bool is_valid = true;
  std::vector<std::function<void(cudaStream_t)>> steps;
  std::vector<cudaUserObject_t> objects;
  cudaGraph_t handle = nullptr;

  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    for (const cudaUserObject_t each : objects) cudaUserObjectRelease(each, 1);
  }
};

bool is_kept(cudaStream_t stream, std::function<void(cudaStream_t)> enqueue) {
  CUstream_st& of = stream_of(stream);
  if (!of.captured) return false;
  of.captured->steps.push_back(std::move(enqueue));
  return true;
}

namespace {

constexpr int kUnsupported = 900, kInvalidated = 901;

}  // namespace

int capture_error(cudaStream_t stream) {
  const CUstream_st& of = stream_of(stream);
  return of.captured && !of.captured->is_valid ? kInvalidated : 0;
}

int refuse_captured(cudaStream_t stream) {
  const CUstream_st& of = stream_of(stream);
  if (!of.captured) return 0;
  return std::exchange(of.captured->is_valid, false) ? kUnsupported : kInvalidated;
}

unsigned long long capture_id(cudaStream_t stream) {
  const CUstream_st& of = stream_of(stream);
  return of.captured ? of.captured->id : 0;
}

}  // namespace fake_nccl

using GraphRef = std::shared_ptr<fake_nccl::Graph>;
struct CUgraph_st {
  GraphRef graph;
};
struct CUgraphExec_st {
  GraphRef graph;
};

namespace {

constexpr int kInvalidValue = 1, kIllegalState = 401;

}  // namespace

#define FAKE_EXPORTED extern "C" __attribute__((visibility("default")))

FAKE_EXPORTED int cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  static std::atomic<unsigned long long> last{0};
  if (stream == nullptr || stream->captured) return kIllegalState;
  const auto made = std::make_shared<fake_nccl::Graph>();
  made->id = ++last;
  made->handle = new CUgraph_st{made};
  stream->captured = made;
  return 0;
}

FAKE_EXPORTED int cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* made) {
  if (stream == nullptr || !stream->captured) return kIllegalState;
  const int error = fake_nccl::capture_error(stream);
  *made = std::exchange(stream->captured, nullptr)->handle;
  if (error == 0) return 0;
  delete std::exchange(*made, nullptr);
  return error;
}

FAKE_EXPORTED int cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* state) {
  const GraphRef& captured = fake_nccl::stream_of(stream).captured;
  *state = cudaStreamCaptureStatusNone;
  if (captured) {
    *state =
        captured->is_valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
  }
  return 0;
}

FAKE_EXPORTED int cudaStreamGetCaptureInfo_v2(cudaStream_t stream, int* state,
                                              unsigned long long* id, cudaGraph_t* graph,
                                              const void**, std::size_t*) {
  const GraphRef& captured = fake_nccl::stream_of(stream).captured;
  auto found = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(stream, &found);
  *state = found;
  if (captured) *id = captured->id;
  if (captured) *graph = captured->handle;
  return 0;
}

FAKE_EXPORTED int cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                       unsigned long long) {
  *made = new CUgraphExec_st{graph->graph};
  return 0;
}

FAKE_EXPORTED int cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  for (const auto& step : graph->graph->steps) step(stream);
  // Alive until the stream has come past it.
  fake_nccl::stream_of(stream).put([kept = graph->graph] {});
  return 0;
}

FAKE_EXPORTED int cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return 0;
}

FAKE_EXPORTED int cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return 0;
}

FAKE_EXPORTED int cudaUserObjectCreate(cudaUserObject_t* made, void* argument, cudaHostFn_t release,
                                       unsigned count, unsigned) {
  if (count != 1) return kInvalidValue;
  *made = new CUuserObject_st{argument, release};
  return 0;
}

FAKE_EXPORTED int cudaUserObjectRelease(cudaUserObject_t object, unsigned) {
  object->release(object->argument);
  delete object;
  return 0;
}

FAKE_EXPORTED int cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned,
                                            unsigned) {
  graph->graph->objects.push_back(object);
  return 0;
}
