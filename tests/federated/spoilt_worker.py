"""A hospital's worker that dies in the round that a file beside its hospital.json names, after the step.

The file has the run and the round. In others it is the worker.
"""

import os
from pathlib import Path

from flwr.app import Context, Message

from examples.flower import worker
from examples.flower.apps import client_app

SPOILT, DIED = "dies in", "died"


def spoilt(asked: Message, context: Context) -> Message:
    """Return the ClientApp's answer, or none."""
    reply = client_app(asked, context)
    path = Path(str(context.node_config["hospital"])).parent / SPOILT
    if path.exists() and path.read_text() == f"{asked.content['dppca']['run']} {asked.metadata.group_id}":
        path.with_name(DIED).touch()
        os._exit(1)
    return reply


if __name__ == "__main__":
    worker.main(spoilt)
