#!/usr/bin/env python3
"""Whole-process CPU of hook commands, interleaved with /bin/true.

interleave.py N PAYLOAD HOME NAME=COMMAND...

Each of N rounds starts every command once, in random order, with PAYLOAD on stdin and HOME as its home. Prints the
median CPU of each, and the median of its per-round ratio to /bin/true. CPU is that of the child as wait4 reports it.
"""
import os
import random
import statistics
import sys


def cpu_ms(command, payload, env):
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, payload, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    pid = os.posix_spawn(command[0], command, env, file_actions=actions)
    _, _, used = os.wait4(pid, 0)
    return (used.ru_utime + used.ru_stime) * 1000


def main():
    rounds, payload, home = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    arms = {"floor": ["/bin/true"]}
    for word in sys.argv[4:]:
        name, command = word.split("=", 1)
        arms[name] = command.split()
    env = {"HOME": home, "PATH": os.environ["PATH"]}
    seen = {name: [] for name in arms}
    for _ in range(rounds):
        order = list(arms)
        random.shuffle(order)
        for name in order:
            seen[name].append(cpu_ms(arms[name], payload, env))
    for name, times in seen.items():
        ratio = statistics.median(own / floor for own, floor in zip(times, seen["floor"]) if floor)
        print(f"{name:12} CPU median {statistics.median(times):.3f} ms, ratio to the floor {ratio:.2f}")


if __name__ == "__main__":
    main()
