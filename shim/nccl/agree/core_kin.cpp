// Over which communicator's tree a communicator finds its siblings.
#include <algorithm>

#include "agree/core.h"
#include "agree/mix.h"

namespace thinwire::nccl::agree {

// The first that the process has made, and has as one rank: other processes take the same one.
Member* Core::first_whole(std::uint32_t job) {
  for (const auto& [id, each] : members_) {
    const bool fits = each->is_whole() && each->ranks() >= static_cast<int>(job);
    if (!fits || each->is_closed()) continue;
    const auto same = std::ranges::count_if(
        members_, [&](const auto& other) { return other.second->secret() == each->secret(); });
    return same == 1 ? each.get() : nullptr;
  }
  return nullptr;
}

void Core::relate(std::uint64_t id, const Kindred& kindred) {
  Member* const made = member(id);
  if (made == nullptr) return;
  if (made->ranks() >= static_cast<int>(kindred.job)) {
    made->become_whole();
    return relate_waiting(*made);
  }
  Member* const whole = first_whole(kindred.job);
  if (whole == nullptr) {
    unrelated_[id] = kindred;
  } else {
    made->relate(*whole, 0, kindred);
  }
}

void Core::relate_waiting(Member& whole) {
  std::erase_if(unrelated_, [&](const auto& each) {
    Member* const made = member(each.first);
    if (made == nullptr) return true;
    if (first_whole(each.second.job) != &whole) return false;
    made->relate(whole, 0, each.second);
    return true;
  });
}

void Core::relate_part(std::uint64_t id, const Kindred& kindred, std::uint64_t parent,
                       std::uint64_t split, std::int32_t color) {
  Member* const made = member(id);
  Member* const of = member(parent);
  if (made == nullptr || of == nullptr) return;
  if (made->ranks() >= static_cast<int>(kindred.job)) return made->become_whole();
  Member* const whole = member(of->whole());
  if (whole == nullptr) return;
  // The rest of a communicator that lost ranks is no part among others.
  const std::int32_t kind = std::min(color, 0);
  made->relate(*whole, mix_of(of->family(), split, kind), kindred);
}

void Core::leave_out(std::uint64_t parent, std::uint64_t split) {
  Member* const of = member(parent);
  Member* const whole = of == nullptr ? nullptr : member(of->whole());
  if (whole == nullptr) return;
  const std::uint64_t name = mix_of(of->family(), split, 0);
  whole->when_known([whole, name](const std::vector<Address>& first, const std::string&) {
    Kin none;
    none.split = name;
    none.from = static_cast<std::uint32_t>(whole->rank());
    if (!first.empty()) whole->tell_sets(none);
  });
}

}  // namespace thinwire::nccl::agree
