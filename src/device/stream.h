// A CUDA stream as the rest of the tree sees it, without CUDA's headers.
#pragma once

#include "device/outcome.h"

struct CUstream_st;

namespace thinwire::device {

using StreamHandle = CUstream_st*;

}  // namespace thinwire::device
