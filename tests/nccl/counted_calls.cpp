// A preload library for tests, between the library under test and the libnccl of hosts: counts the
// calls of NCCL and CUDA that each thread makes below the library, by name, and threads that it
// wakes.
#include "counted_calls.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>
#include <type_traits>

#include "fake_nccl/fake_cuda.h"

namespace {

// The calls of a thread that has asked; kept when it ends, as threads still make calls then.
thread_local CountedCalls* t_calls = nullptr;
thread_local int t_depth = 0;  // of calls that are passed on: what they do is not the library's

template <typename Result, typename... Arguments>
Result pass(const char* name, Result (*)(Arguments...),
            std::type_identity_t<Arguments>... arguments) {
  if (t_depth == 0 && t_calls != nullptr) ++(*t_calls)[name];
  const auto next = reinterpret_cast<Result (*)(Arguments...)>(dlsym(RTLD_NEXT, name));
  ++t_depth;
  const Result result = next(arguments...);
  --t_depth;
  return result;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void take_counted_calls(CountedCalls& to) {
  if (t_calls == nullptr) t_calls = new CountedCalls;
  to.clear();
  to.swap(*t_calls);
}

#define COUNTED(result, name, parameters, ...)                                                 \
  extern "C" __attribute__((visibility("default"))) result name parameters {                   \
    return pass(#name, static_cast<result(*) parameters>(nullptr) __VA_OPT__(, ) __VA_ARGS__); \
  }

COUNTED(ncclResult_t, pncclGroupStart, ())
COUNTED(ncclResult_t, pncclGroupEnd, ())
COUNTED(ncclResult_t, pncclSend,
        (const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
         cudaStream_t stream),
        data, count, type, peer, comm, stream)
COUNTED(ncclResult_t, pncclRecv,
        (void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
         cudaStream_t stream),
        data, count, type, peer, comm, stream)
COUNTED(ncclResult_t, pncclAllGather,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclComm_t comm,
         cudaStream_t stream),
        send, receive, count, type, comm, stream)
COUNTED(ncclResult_t, pncclReduceScatter,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
         ncclComm_t comm, cudaStream_t stream),
        send, receive, count, type, op, comm, stream)
COUNTED(ncclResult_t, pncclAllReduce,
        (const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
         ncclComm_t comm, cudaStream_t stream),
        send, receive, count, type, op, comm, stream)
COUNTED(ncclResult_t, pncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t* error), comm, error)
COUNTED(int, cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void* argument),
        stream, function, argument)
COUNTED(int, cudaStreamGetId, (cudaStream_t stream, unsigned long long* id), stream, id)
COUNTED(int, cudaStreamGetCaptureInfo_v2,
        (cudaStream_t stream, int* state, unsigned long long* id, cudaGraph_t* graph,
         const void** nodes, std::size_t* count),
        stream, state, id, graph, nodes, count)
COUNTED(int, cudaStreamQuery, (cudaStream_t stream), stream)
COUNTED(int, cudaStreamSynchronize, (cudaStream_t stream), stream)
COUNTED(int, cudaEventCreateWithFlags, (cudaEvent_t * made, unsigned flags), made, flags)
COUNTED(int, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), event, stream)
COUNTED(int, cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags), stream,
        event, flags)
COUNTED(int, cudaMemGetInfo, (std::size_t* free, std::size_t* whole), free, whole)
COUNTED(int, pthread_cond_signal, (pthread_cond_t * condition), condition)
COUNTED(int, pthread_cond_broadcast, (pthread_cond_t * condition), condition)
