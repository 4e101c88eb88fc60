"""Hospitals and a server that exchange messages: in one process, or each in its own over a network.

`protocol` holds the two steps, `coordinator` the server's loop over rounds, `in_process` hospitals without a
network, and `record` what the server saw. examples/flower carries the same steps over Flower.
"""
