"""The federated protocol of the core over Flower: the two apps, a hospital's worker, and a demonstration.

`apps` carries messages between the core's `coordinator` and `hospital`, `worker` answers for a hospital,
whose files `own_files` reads, and `demo` starts all of it on one machine.
"""
