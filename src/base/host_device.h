// The mark of functions that define bytes: compiled for the host, and for the device if a CUDA
// compiler reads them, so that both produce the same.
#pragma once

#if defined(__CUDACC__)
#define THINWIRE_HOST_DEVICE __host__ __device__
#else
#define THINWIRE_HOST_DEVICE
#endif

// Before a loop whose arrays must stay in registers on the device.
#if defined(__CUDA_ARCH__)
#define THINWIRE_UNROLL _Pragma("unroll")
#else
#define THINWIRE_UNROLL
#endif
