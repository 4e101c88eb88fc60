"""A hospital's own process, which answers in the SuperNode's name with the code that is installed here.

    flower-supernode ... --isolation process --host 127.0.0.1 --port 9094 --superexec-auth-secret-file secret
    python -m examples.flower.worker 127.0.0.1:9094 secret

By default a SuperNode starts a new process for each message, which installs and runs the code that the
server shipped. With --isolation process it starts nothing: whoever holds the secret fetches its tasks. This
process does, for as long as the SuperNode is there, and gives each to `apps.client_app`. What the
server shipped is not unpacked, let alone run; and nothing is imported anew between two rounds.

The five calls are those of Flower's own `flwr-clientapp`, which answers one message and ends.
"""

import argparse
import logging
import time
from pathlib import Path

import httpx
from flwr.app import Error, Message
from flwr.clientapp.typing import ClientAppCallable
from flwr.common.constant import ErrorCode, SubStatus
from flwr.proto.runtime_pb2 import AcquireTaskRequest
from flwr.supercore.constant import TaskType
from flwr.supercore.heartbeat import HeartbeatSender, make_task_heartbeat_fn_http
from flwr.supercore.inflatable.inflatable_utils import ObjectPullError
from flwr.supercore.interceptors import (
    RuntimeTokenHttpInterceptor,
    RuntimeVersionHttpInterceptor,
    SuperExecAuthHttpInterceptor,
)
from flwr.supercore.protobuf.client import ProtobufClientInterceptor
from flwr.supercore.runtime import RuntimeHttpClient
from flwr.supernode.runtime.run_clientapp import pull_task_input, push_message, push_task_output

from examples.flower.apps import client_app

POLL_SECONDS = 0.1
MESSAGE_DELAY_SECONDS = 0.1  # a task is offered before its message is there; asking too early costs a second
_log = logging.getLogger(__name__)


def _client(address: str, interceptor: ProtobufClientInterceptor) -> RuntimeHttpClient:
    versioning = RuntimeVersionHttpInterceptor(component_name="flwr-clientapp")
    return RuntimeHttpClient.from_server_address(
        server_address=address, insecure=True, root_certificates=None, interceptors=[versioning, interceptor]
    )


def serve(address: str, secret: bytes, answering: ClientAppCallable) -> None:
    """Give the tasks of the SuperNode at this address of the same machine to `answering`, one by one."""
    acquire = "/flwr.proto.Runtime/AcquireTask"
    tasks = _client(address, SuperExecAuthHttpInterceptor(master_secret=secret, protected_methods=[acquire]))
    request = AcquireTaskRequest(supported_task_types=[TaskType.CLIENT_APP])
    while True:
        try:
            if token := tasks.AcquireTask(request).token:
                time.sleep(MESSAGE_DELAY_SECONDS)
                _run_task(address, token, answering)
        except (httpx.HTTPError, ObjectPullError, RuntimeError) as reason:
            _log.warning("no task from the SuperNode: %s", reason)
        time.sleep(POLL_SECONDS)


def _run_task(address: str, token: str, answering: ClientAppCallable) -> None:
    with _client(address, RuntimeTokenHttpInterceptor(token)) as client:
        heartbeat = HeartbeatSender(make_task_heartbeat_fn_http(client))
        heartbeat.start()
        try:
            question, context, _, _ = pull_task_input(client)
            try:
                reply = answering(question, context)
            except Exception:  # its text may hold rows of patients, so only this machine's log has it
                _log.exception("the step failed")
                reply = Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION), reply_to=question)
            push_message(client, reply, context)
            push_task_output(client, context, SubStatus.COMPLETED, "")
        finally:
            heartbeat.stop()


def main(answering: ClientAppCallable = client_app) -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.flower.worker", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("address", help="the SuperNode's --host and --port")
    parser.add_argument("secret", type=Path, help="the file of its --superexec-auth-secret-file")
    given = parser.parse_args()
    serve(given.address, given.secret.read_bytes(), answering)


if __name__ == "__main__":
    main()
