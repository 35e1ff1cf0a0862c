// Names with * and ?: what a rule says of a communicator's name.
#pragma once

#include <string_view>

namespace thinwire::policy {

// `*` stands for any bytes, also none, `?` for one; everything else for itself.
bool matches(std::string_view pattern, std::string_view name);

// True only if every name that `inner` matches is one of `outer`'s.
bool covers(std::string_view outer, std::string_view inner);

}  // namespace thinwire::policy
