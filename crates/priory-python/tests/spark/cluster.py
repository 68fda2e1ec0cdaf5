"""A standalone cluster of Spark on this machine: a master and two workers, each a process, on loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyspark

# A machine that is busy with other things may take minutes to start three Java machines.
PATIENCE = 600


def wait_until(is_done, what):
    end = time.monotonic() + PATIENCE
    while not (found := is_done()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {PATIENCE} seconds")
        time.sleep(0.2)
    return found


def free_port():
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


def children_of(pid):
    """The processes that a process has started, and those that these have."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                pass
    found, known = [], {pid}
    while new := {child for child, parent in parents.items() if parent in known} - known:
        found += sorted(new)
        known |= new
    return found


class Cluster:
    """A master and two workers of one core each. Whoever starts it stops it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self._environment = {
            **os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "PYTHONHASHSEED": "0",
            "SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1",
        }
        self._command, self.processes = [str(spark_class)], []
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", free_port())
        wait_until(lambda: "I have been elected leader" in self.log("master"), "the master")
        self.workers = [self._worker(name) for name in ("worker1", "worker2")]
        wait_until(lambda: self.log("master").count("Registering worker") == 2, "the workers")

    def _worker(self, name):
        at = ["--host", "127.0.0.1", "--port", free_port(), "--webui-port", free_port()]
        of = ["--cores", 1, "--memory", "2g", "--work-dir", self.folder / name]
        return self._start(name, "org.apache.spark.deploy.worker.Worker", *at, *of, self.url)

    def _start(self, name, java_class, *arguments):
        with open(self.folder / f"{name}.log", "w") as log:
            command = [*self._command, java_class, *map(str, arguments)]
            process = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def log(self, name):
        return (self.folder / f"{name}.log").read_text()

    def session(self, **more):
        """A session on the cluster, whose driver is this process."""
        from pyspark.sql import SparkSession

        os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
        (self.folder / "events").mkdir(exist_ok=True)
        builder = SparkSession.builder.master(self.url)
        settings = {
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
            "spark.executor.memory": "1g", "spark.executor.cores": "1", "spark.driver.memory": "1g",
            "spark.eventLog.enabled": "true", "spark.eventLog.dir": (self.folder / "events").as_uri(),
            "spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false",
            "spark.network.timeout": "600s", "spark.executor.heartbeatInterval": "60s",
            **more,
        }
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

    def kill(self, worker):
        """Ends a worker and the executor that it has started, as if the machine had lost power."""
        lost = [worker.pid, *children_of(worker.pid)]
        for pid in lost:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        worker.wait()
        return lost

    def stop(self):
        for process in reversed(self.processes):
            for pid in [process.pid, *children_of(process.pid)] if process.poll() is None else []:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.wait()
