# The GPU side of the build. Sets THINWIRE_HAS_CUDA; thinwire_knows_cuda() tells a target's sources,
# which then see THINWIRE_CUDA. Those that are not told are the same in builds with it and without.
# The library finds the driver when it runs: a build with CUDA works on machines without a GPU.
set(THINWIRE_HAS_CUDA OFF)

function(thinwire_knows_cuda target)
  if(THINWIRE_HAS_CUDA)
    target_compile_definitions(${target} PRIVATE THINWIRE_CUDA)
  endif()
endfunction()

if(THINWIRE_CUDA STREQUAL "OFF")
  return()
endif()

include(CheckLanguage)
if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(THINWIRE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "THINWIRE_CUDA=ON, and no nvcc was found")
  endif()
  message(STATUS "No nvcc: building without the GPU side")
  return()
endif()

# The least GPU is of compute capability 7.5 (decision 0061).
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  # Machine code for Hopper; on every other GPU the driver compiles one of the portable forms at start.
  set(CMAKE_CUDA_ARCHITECTURES 75-virtual 80-virtual 90-real)
  if(THINWIRE_CUDA_CHECK)
    set(CMAKE_CUDA_ARCHITECTURES 90-real)
  endif()
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(THINWIRE_HAS_CUDA ON)
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  # CMake before 3.26 does not know of C++20 in nvcc.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
if(THINWIRE_CUDA_CHECK)
  # Nor is the host's side of it optimised, or known to a debugger.
  set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO -DNDEBUG)
endif()
if(THINWIRE_CUDA_CHECK AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
  # No GPU runs what comes of it: seconds for a codec that otherwise takes the optimiser a minute.
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=max>")
endif()
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
  # A fifth of the size on disk. Drivers of CUDA 13 read it.
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>")
endif()
# --fmad=false is part of the wire format, as -ffp-contract=off is.
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;--expt-relaxed-constexpr;-Xcompiler=-Wall,-ffp-contract=off>")
