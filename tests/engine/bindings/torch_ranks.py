"""Ranks that need not import torch, which takes each of them two seconds: a server that has imported it once forks them.

    torch_ranks.py serve SOCKET          the server, until its standard input is closed
    torch_ranks.py SOCKET SCRIPT         what mpirun starts: hands its environment and streams over, and ends as its rank ends
"""
import json
import os
import selectors
import signal
import socket
import sys


def start_rank(path, script):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [b"\0"], [0, 1, 2])
        connection.sendall(json.dumps([script, dict(os.environ)]).encode() + b"\n")
        status = int(connection.recv(16) or -signal.SIGKILL)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


def serve(path):
    """Returns the script in each process that is to be a rank, and None in the server when it is to end."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ)
    selector.register(listener, selectors.EVENT_READ)
    print("ready", flush=True)
    while True:
        key = selector.select()[0][0]
        if key.fileobj == 0:
            return None
        if key.fileobj is listener:
            connection = listener.accept()[0]
            streams = socket.recv_fds(connection, 1, 3)[1]
            script, environment = json.loads(connection.makefile().readline())
            pid = os.fork()
            if pid == 0:
                become_rank(streams, environment)
                return script
            for stream in streams:
                os.close(stream)
            selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, connection))
            selector.register(connection, selectors.EVENT_READ, pid)  # it says nothing more: readable when mpirun has killed it
        elif isinstance(key.data, int):
            selector.unregister(key.fileobj)
            os.kill(key.data, signal.SIGKILL)
        else:  # a rank has ended
            pid, connection = key.data
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            selector.unregister(key.fileobj)
            os.close(key.fileobj)
            if connection in selector.get_map():
                selector.unregister(connection)
                connection.sendall(str(status).encode())
            connection.close()


def become_rank(streams, environment):
    for stream, number in zip(streams, (0, 1, 2)):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdout = open(1, "w", buffering=1 if os.isatty(1) else -1, closefd=False)
    os.environ.clear()
    os.environ.update(environment)


if sys.argv[1] != "serve":
    start_rank(*sys.argv[1:])
import torch  # noqa: E402,F401

to_run = serve(sys.argv[2])
if to_run:
    import runpy
    sys.argv = [to_run]
    runpy.run_path(to_run, run_name="__main__")
