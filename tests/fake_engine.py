"""An engine without an idea of its own: it answers each line by a script, and so can misbehave in every way.

    python fake_engine.py '{"uci": ["uciok"], "isready": ["readyok"], "go": ["bestmove e2e4"]}' [LOG]

The key is the first word of a line (of GTP: behind the number), or that and how often it has come: "go 2" is the second
`go`. Answers are lines to say, or things to do that begin with "!". "#" stands for the number of a GTP command. All
lines that were read stand in the log.
"""

import json
import os
import sys
import time
from collections import Counter


def act(what: str) -> None:
    word, _, rest = what.partition(" ")
    if word == "!exit":
        os._exit(int(rest))
    elif word == "!signal":
        os.kill(os.getpid(), int(rest))
    elif word == "!sleep":
        time.sleep(float(rest))
    elif word == "!stderr":
        print(rest, file=sys.stderr, flush=True)
    elif word == "!part":
        sys.stdout.write(rest)
        sys.stdout.flush()
    elif word == "!bytes":
        sys.stdout.buffer.write(bytes.fromhex(rest))
        sys.stdout.flush()
    elif word == "!close":
        os.close(1)
    elif word == "!spam":  # without an end
        while True:
            sys.stdout.write(rest + "\n")
    elif word == "!flood":  # without an end of the line
        while True:
            sys.stdout.write("x" * 4096)
    elif word == "!child":  # that holds the pipes, and outlives its parent
        import subprocess

        program = "import time; time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-c", program])
        print(f"info string child {child.pid}", flush=True)
        print(child.pid, file=sys.stderr, flush=True)
    elif word == "!directory":
        print(f"id name {os.path.basename(os.getcwd())}", flush=True)
    else:
        raise AssertionError(what)


def main() -> None:
    script, log, counts = json.loads(sys.argv[1]), sys.argv[2:], Counter[str]()
    for what in script.get("start", ()):
        answer(what, "")
    for line in sys.stdin:
        if log:
            with open(log[0], "a", encoding="utf-8") as file:
                file.write(line)
        words = line.split()
        number = words.pop(0) if words and words[0].isdigit() else ""
        word = words[0] if words else ""
        counts[word] += 1
        for what in script.get(f"{word} {counts[word]}", script.get(word, [])):
            answer(what, number)
        if word == "quit" and "quit" not in script:
            return


def answer(what: str, number: str) -> None:
    if what.startswith("!"):
        act(what)
    else:
        print(what.replace("#", number), flush=True)


if __name__ == "__main__":
    main()
