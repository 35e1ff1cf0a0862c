"""Benchmarks: codecs on one thread, messages between two hosts, the cost of the preload library.

A row that did not verify carries no figure.
"""
