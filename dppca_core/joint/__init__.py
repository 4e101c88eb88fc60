"""A joint study by mail: a plan, one file from each hospital, and what anybody makes of the files.

A method of one message needs no server. `plan` holds what the hospitals agree on, `forecast` what it should
give. `take_part` makes one hospital's file by the exact release of `dppca_core.release`, paid for in its own
book. `combine` puts files together, by the mathematics of `pooling`. `in_words` says all of it in sentences,
`dishonest` what a hospital that lies can do. The commands are `python -m dppca_core.plan`, `.join` and
`.combine`.
"""
