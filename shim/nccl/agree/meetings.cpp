#include "agree/meetings.h"

#include <algorithm>

namespace thinwire::nccl::agree {

void Meetings::expect(const Secret& secret) {
  const auto [found, added] = meetings_.try_emplace(secret);
  if (!added) return;
  found->second = std::make_unique<Meeting>(loop_, messenger_, secret, times_, tell_);
  by_age_.push_back(secret);
  if (by_age_.size() > kMostMeetings) forget_one();
}

// The oldest that is decided; else the oldest.
void Meetings::forget_one() {
  const auto decided = [this](const Secret& each) { return meetings_.at(each)->is_decided(); };
  auto which = std::ranges::find_if(by_age_, decided);
  if (which == by_age_.end()) which = by_age_.begin();
  const auto oldest = meetings_.find(*which);
  loop_.bury(std::move(oldest->second));
  meetings_.erase(oldest);
  by_age_.erase(which);
}

bool Meetings::take(std::unique_ptr<Link>& link, const Register& said) {
  const Secret& secret = said.head.secret;
  if (const auto& of = said.child_of) {
    const bool ours =
        parents_.contains(of->parent) && derive(of->parent, of->split, of->color) == secret;
    if (!ours) return false;
    expect(secret);
  }
  const auto found = meetings_.find(secret);
  if (found == meetings_.end()) return false;
  found->second->take({std::move(link), nullptr}, said);
  return true;
}

void Meetings::take_of_tree(const Register& said, std::function<bool(const Message&)> tree) {
  expect(said.head.secret);
  meetings_.at(said.head.secret)->take({nullptr, std::move(tree)}, said);
}

void Meetings::leave() {
  for (const auto& [secret, meeting] : meetings_) meeting->leave();
}

void Meetings::failed(const Secret& secret, const std::string& why) {
  const auto found = meetings_.find(secret);
  if (found != meetings_.end()) found->second->failed(why);
}

}  // namespace thinwire::nccl::agree
