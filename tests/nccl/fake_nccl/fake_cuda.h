// The few calls of CUDA that programs of the tests make, on queues of this process: a stream is a
// thread that does one thing after the other.
#pragma once

#include "abi/nccl_abi.h"

extern "C" {

using cudaHostFn_t = void (*)(void*);

int cudaStreamCreate(cudaStream_t* made);
int cudaStreamDestroy(cudaStream_t stream);
int cudaStreamSynchronize(cudaStream_t stream);
// 0 where nothing is left to do, 600 (cudaErrorNotReady) otherwise.
int cudaStreamQuery(cudaStream_t stream);
int cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument);

}  // extern "C"
