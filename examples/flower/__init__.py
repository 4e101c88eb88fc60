"""The federated protocol of the core over Flower: the two apps, a hospital's worker, and a demonstration.

`apps` carries messages between the core's `coordinator` and a hospital, for which `worker` answers.
`own_files` reads a hospital's files, `hospital` keeps what it sent and paid, and `demo` starts all of it.
"""
