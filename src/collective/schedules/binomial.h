// A binomial tree over the numbers 0 to size - 1 that begins at any of them.
#pragma once

namespace thinwire::collective {

// Counted from the root, number v is the parent of v + reach for each power of two `reach` below
// the lowest one in v, and the tree below v + reach holds v + reach to v + 2 reach - 1.
class BinomialTree {
 public:
  BinomialTree(int self, int root, int size)
      : place_((self - root + size) % size), root_(root), size_(size) {}

  int place() const { return place_; }  // counted from the root
  int size() const { return size_; }

  int parent() const { return place_ == 0 ? -1 : at(place_ & (place_ - 1)); }

  // How many numbers the tree below this one holds, itself among them.
  int width() const {
    const int reach = place_ == 0 ? size_ : place_ & -place_;
    return reach < size_ - place_ ? reach : size_ - place_;
  }

  // A power of two of which all below are this one's children, and perhaps it as well.
  int largest_reach() const {
    int reach = 1;
    while (2 * reach < width()) reach *= 2;
    return reach;
  }
  bool has_child(int reach) const { return reach < width(); }
  int child(int reach) const { return at(place_ + reach); }

  // The child whose tree holds what lies `distance` further on, between 1 and width() - 1.
  int child_towards(int distance) const {
    int reach = 1;
    while (2 * reach <= distance) reach *= 2;
    return child(reach);
  }

  int at(int place) const { return (place + root_) % size_; }

 private:
  int place_;
  int root_;
  int size_;
};

}  // namespace thinwire::collective
