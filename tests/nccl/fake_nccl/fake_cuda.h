// The few calls of CUDA that programs of the tests make, on queues of this process: a stream is a
// thread that does one thing after the other.
#pragma once

#include <cstddef>

#include "native/nccl_abi.h"

extern "C" {

using cudaHostFn_t = void (*)(void*);

int cudaStreamCreate(cudaStream_t* made);
int cudaStreamDestroy(cudaStream_t stream);
int cudaStreamSynchronize(cudaStream_t stream);
// 0 if nothing is left to do, 600 (cudaErrorNotReady) otherwise.
int cudaStreamQuery(cudaStream_t stream);
int cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument);
// Another one for each stream that was ever made.
int cudaStreamGetId(cudaStream_t stream, unsigned long long* id);

// A wait is for what the event was recorded after last, when the wait was put on its stream.
using cudaEvent_t = struct CUevent_st*;
int cudaEventCreateWithFlags(cudaEvent_t* made, unsigned flags);
int cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
int cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
int cudaEventDestroy(cudaEvent_t event);

// Graphs of one stream each, which hold what was put on it while it was captured: a list, that a
// replay puts on a stream in its order. As with CUDA, whoever asks a stream that is being captured
// for its number or how far it has come, or waits for it, gets 900
// (cudaErrorStreamCaptureUnsupported), and the capture is invalid: what is put on the stream and
// the capture's end fail with 901.
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaUserObject_t = struct CUuserObject_st*;
enum cudaStreamCaptureMode : int {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};

enum cudaStreamCaptureStatus : int {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};

int cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
int cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* made);
int cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* state);
// The state as above; no nodes.
int cudaStreamGetCaptureInfo_v2(cudaStream_t stream, int* state, unsigned long long* id,
                                cudaGraph_t* graph, const void** nodes, std::size_t* count);
int cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long flags);
int cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
int cudaGraphDestroy(cudaGraph_t graph);
int cudaGraphExecDestroy(cudaGraphExec_t graph);
// Released when the graph that retains it, what was made of it and all replays have ended.
int cudaUserObjectCreate(cudaUserObject_t* made, void* argument, cudaHostFn_t release,
                         unsigned count, unsigned flags);
int cudaUserObjectRelease(cudaUserObject_t object, unsigned count);
int cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                              unsigned flags);

}  // extern "C"
