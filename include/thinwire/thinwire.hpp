// Thinwire for C++20: a thin layer over thinwire.h, in headers alone.
//
//   #include <thinwire/thinwire.hpp>
//
//   const thinwire::Codec codec("zfp:rate=8");
//   const std::vector<std::byte> frame = thinwire::encode(codec, values);  // any contiguous range
//   const std::vector<float> again = thinwire::decode<float>(frame);
//
// Handles are objects that free themselves, memory is a std::span, and a call that fails throws
// thinwire::Error, which has the tw_status and the library's sentence. Spans may be over GPU memory
// wherever thinwire.h says so: nothing here reads what they point to. The memory is the caller's:
// it must live until the call returns, and no call keeps it. What has no class here is called as it
// is in thinwire.h; get() of each class gives the C handle for that. Compile with -std=c++20.
#pragma once

#include "thinwire/cpp/codec.hpp"
#include "thinwire/cpp/communicator.hpp"
#include "thinwire/cpp/error.hpp"
#include "thinwire/cpp/memory.hpp"
#include "thinwire/cpp/message.hpp"
#include "thinwire/cpp/transport.hpp"
