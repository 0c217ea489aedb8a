"""Starts a Slurm cluster on this machine, runs a command in it, and ends it.

Usage: slurm_cluster.py [--nodes N] COMMAND...   The command gets `SLURM_CONF`, so that sbatch and srun find the cluster, and
`LEHR_SLURM_PRIVATE`: a folder that exists on every node, each with its own contents, as a local disk has.

Each node is a slurmd with its own hostname, network interface, processes, System V memory and /dev/shm, so programs see several machines.
All nodes share the other folders, as over NFS. This takes root, and Debian's packages slurmctld, slurmd and slurm-client.

The cluster authenticates nobody, and its controller listens on all addresses of this machine. While the command runs, whoever reaches the
controller's port can run programs as root. So run this only on a machine that nobody else uses or reaches.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "scontrol", "sinfo", "ip", "unshare", "nsenter")
#: The addresses of the nodes and, at the end, of the controller.
NETWORK = "10.213.77."
CONTROLLER = f"{NETWORK}254"
PORT = 36817
#: The seconds that the daemons get to start.
PATIENCE = 30

CONFIGURATION = """\
ClusterName=lehr
SlurmctldHost={host}({controller})
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=20
InactiveLimit=0
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
{nodes}
PartitionName=main Nodes=node[1-{count}] Default=YES MaxTime=60 State=UP
"""


def missing():
    """Returns what keeps the cluster from starting here, in one sentence; None if nothing does."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    absent = [program for program in PROGRAMS if shutil.which(program, path=path) is None]
    if absent:
        return f"{', '.join(absent)} cannot be found (Debian: apt-get install slurmctld slurmd slurm-client iproute2)"
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    return None


def configuration(folder, host, count):
    """Returns the text of slurm.conf."""
    nodes = "\n".join(
        f"NodeName=node{node} NodeHostname=node{node} NodeAddr={NETWORK}{node} Port={PORT + node} CPUs=2 RealMemory=4000 State=UNKNOWN"
        for node in range(1, count + 1)
    )
    return CONFIGURATION.format(host=host, controller=CONTROLLER, port=PORT, folder=folder, nodes=nodes, count=count)


def inside(folder, node):
    """Returns the script that becomes a node, in its namespaces."""
    return (
        f"hostname node{node} && mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs {folder}/private "
        f"&& mount --bind {folder}/hosts /etc/hosts && exec slurmd -D -N node{node} -f {folder}/slurm.conf"
    )


class Cluster:
    """A running cluster; `close` ends it, whatever has been started of it."""

    def __init__(self, folder, count):
        self.folder, self.count = folder, count
        self.name = f"lehr{os.getpid()}"
        self.daemons = []
        self.spaces = []

    def start(self):
        host = socket.gethostname().split(".", maxsplit=1)[0]
        for name in ["state", "private"] + [f"spool-node{node}" for node in range(1, self.count + 1)]:
            (self.folder / name).mkdir()
        names = [f"{NETWORK}{node} node{node}" for node in range(1, self.count + 1)]
        lines = ["127.0.0.1 localhost", f"{CONTROLLER} {host}", *names]
        (self.folder / "hosts").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (self.folder / "slurm.conf").write_text(configuration(self.folder, host, self.count), encoding="utf-8")
        ip(f"link add {self.name} type bridge")
        ip(f"addr add {CONTROLLER}/24 dev {self.name}")
        ip(f"link set {self.name} up")
        self.daemon("slurmctld", ["slurmctld", "-D", "-c", "-f", f"{self.folder}/slurm.conf"])
        for node in range(1, self.count + 1):
            space, end = f"{self.name}-{node}", f"{self.name}v{node}"
            ip(f"netns add {space}")
            self.spaces.append(space)
            ip(f"link add {end} type veth peer name eth0 netns {space}")
            ip(f"link set {end} master {self.name} up")
            ip(f"-n {space} addr add {NETWORK}{node}/24 dev eth0")
            ip(f"-n {space} link set lo up")
            ip(f"-n {space} link set eth0 up")
            namespaces = ["unshare", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
            # `ip netns exec` would mount an empty /sys, in which slurmd finds no control groups.
            self.daemon(f"node{node}", ["nsenter", f"--net=/run/netns/{space}", *namespaces, "sh", "-c", inside(self.folder, node)])

    def daemon(self, name, command):
        log = (self.folder / f"{name}.out").open("w", encoding="utf-8")
        self.daemons.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))

    def is_ready(self):
        """Waits until all nodes are idle; returns False if they are not after `PATIENCE` seconds."""
        for _ in range(PATIENCE * 2):
            shown = subprocess.run(["sinfo", "-h", "-t", "idle", "-o", "%D"], capture_output=True, text=True, check=False)
            if shown.stdout.strip() == str(self.count):
                return True
            time.sleep(0.5)
        return False

    def logs(self):
        """Returns the last lines of each daemon's log."""
        files = sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out"))
        return "\n".join(f"{file.name}:\n{file.read_text(encoding='utf-8', errors='replace')[-1500:]}" for file in files)

    def close(self):
        # The processes of a node end with it: they are in its namespace. `unshare` would ignore a milder signal.
        for daemon in reversed(self.daemons):
            daemon.kill()
            daemon.wait()
        for space in self.spaces:
            ip(f"netns del {space}", check=False)
        ip(f"link del {self.name}", check=False)


def ip(arguments, check=True):
    subprocess.run(["ip", *arguments.split()], check=check, stderr=None if check else subprocess.DEVNULL)


def main(arguments):
    parser = argparse.ArgumentParser(description="Runs a command beside a Slurm cluster that exists for its time only.")
    parser.add_argument("--nodes", type=int, default=3, choices=range(1, 10), help="the number of nodes [default: 3]")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command and its arguments")
    asked = parser.parse_args(arguments)
    if not asked.command:
        parser.error("expected a command")
    reason = missing()
    if reason:
        print(f"the tests under Slurm cannot run: {reason}", file=sys.stderr)
        return 1
    os.environ["PATH"] += os.pathsep + "/usr/sbin"
    # Ctrl-C and kill end the cluster too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="lehr-slurm-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        cluster = Cluster(folder, asked.nodes)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        try:
            cluster.start()
            if not cluster.is_ready():
                print(f"the nodes of the cluster do not start:\n{cluster.logs()}", file=sys.stderr)
                return 1
            environment = dict(os.environ, LEHR_SLURM_PRIVATE=str(folder / "private"))
            return subprocess.run(asked.command, env=environment, check=False).returncode
        finally:
            cluster.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
