"""Whether the installed OpenVINO leaves a thread with an unmapped signal stack, without any code of zerosum.

    python tools/openvino_signal_stack.py

Cores are made and destroyed in several orders; then the process sends itself a signal that it handles. With the fault
(seen in OpenVINO 2026.4) the process ends by SIGSEGV instead. Each order has a process of its own. Exit status 1 if any
of them ended so: then `zerosum.network.evaluators.openvino` must keep its one core.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import openvino
from openvino import opset13


def compiled() -> tuple[openvino.Core, openvino.CompiledModel]:
    """A core of its own, and a model that it compiled."""
    core, numbers = openvino.Core(), opset13.parameter([1, 4], np.float32)
    return core, core.compile_model(openvino.Model([opset13.relu(numbers)], [numbers]), "CPU")


def destroy_in_order_of_making() -> None:
    """The second core restores the first one's stack, which is gone by then."""
    cores = [compiled(), compiled()]
    del cores[0]
    del cores[0]


def destroy_in_another_thread() -> None:
    """The core finds that its stack is not that thread's, and restores nothing."""
    cores = [compiled()]
    thread = threading.Thread(target=cores.clear)
    thread.start()
    thread.join()


def destroy_in_reverse_order() -> None:
    """The one way that harms nothing."""
    cores = [compiled(), compiled()]
    cores.pop()
    cores.pop()


CASES = {
    case.__name__: case for case in (destroy_in_reverse_order, destroy_in_order_of_making, destroy_in_another_thread)
}


def main() -> None:
    """All cases, or in a child process the one that is named."""
    if len(sys.argv) == 2:
        faulthandler.enable()  # Python's handlers run on the alternate stack wherever a thread has one
        signal.signal(signal.SIGINT, lambda *_: None)
        CASES[sys.argv[1]]()
        os.kill(os.getpid(), signal.SIGINT)
        return
    print(f"OpenVINO {openvino.__version__}")
    statuses = {name: subprocess.run([sys.executable, __file__, name], check=False).returncode for name in CASES}
    for name, status in statuses.items():
        end = "a handled signal" if status == 0 else f"signal {-status}" if status < 0 else f"exit status {status}"
        print(f"{name}: {end}")
    sys.exit(any(statuses.values()))


if __name__ == "__main__":
    main()
