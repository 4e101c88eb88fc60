"""A hospital's worker that goes wrong where SPOILT.json beside its hospital.json says, after the honest step.

{"RUN ROUND": "NaN"} or {"RUN ROUND": "dies"}. Otherwise it is the worker.
"""

import json
import os
from pathlib import Path

import numpy as np
from flwr.app import ConfigRecord, Context, Message, RecordDict

from examples.flower import wire, worker
from examples.flower.apps import client_app

SPOILT, DIED = "spoilt.json", "died"


def spoilt(asked: Message, context: Context) -> Message:
    """Return the ClientApp's answer, or none, or one with NaN."""
    reply = client_app(asked, context)
    path = Path(str(context.node_config["hospital"])).parent / SPOILT
    says = json.loads(path.read_text()) if path.exists() else {}
    how = says.get(f"{asked.content['dppca']['run']} {asked.metadata.group_id}")
    if how == "dies":
        path.with_name(DIED).touch()
        os._exit(1)
    if how == "NaN":
        answer = wire.decode(reply.content["dppca"]["answer"], 10**6)
        for array in answer.arrays.values():
            array *= np.nan
        reply.content = RecordDict({"dppca": ConfigRecord({"answer": wire.encode(answer)})})
    return reply


if __name__ == "__main__":
    worker.main(spoilt)
