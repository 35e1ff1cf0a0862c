"""`python -m thinwire` is the `thinwire` command."""

from thinwire.cli import main

main()
