// Targets over what users write, and what ranks publish.
#pragma once

#include "fuzz/target.h"

namespace thinwire::fuzz {

// A codec spec at the C boundary, and the arrays that it would code.
void run_spec(const Target& target, ByteView input);
std::vector<Bytes> spec_seeds(const Target& target);

// Sizes and link rates at the C boundary.
void run_quantity(const Target& target, ByteView input);
std::vector<Bytes> quantity_seeds(const Target& target);

// A policy's file at the C boundary, and calls that it would take.
void run_policy(const Target& target, ByteView input);
std::vector<Bytes> policy_seeds(const Target& target);

// A table of costs at the C boundary.
void run_costs(const Target& target, ByteView input);
std::vector<Bytes> costs_seeds(const Target& target);

// The input as text of the C boundary: up to its first NUL.
std::string text_of(ByteView input);
Bytes bytes_of(std::string_view text);

}  // namespace thinwire::fuzz
