// The GPU side of p2p's memory; only in builds with CUDA.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "p2p_memory.h"

namespace thinwire::bench {

std::unique_ptr<Buffer> make_device_buffer(std::size_t count);
std::unique_ptr<Buffer> make_staged_buffer(std::size_t count);

bool set_gpu(int local_rank, Gpu* gpu, std::string* error);

}  // namespace thinwire::bench
