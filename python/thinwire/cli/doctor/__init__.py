"""`thinwire doctor`: what would keep a program from being compressed on this node."""

from .command import doctor

__all__ = ["doctor"]
