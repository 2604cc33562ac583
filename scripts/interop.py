"""A client in another language: every RPC of cuzk.v1, health checking and reflection, over TCP and a unix socket.

usage: interop.py DAEMON DIR    with the daemon's executable and a folder that `cuzk-bench demo --dir DIR` has filled
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import grpc
from cuzk.v1 import proving_pb2 as pb
from cuzk.v1 import proving_pb2_grpc
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

SERVICE = "cuzk.v1.ProvingEngine"
CIRCUIT = "porep-2k"
UNKNOWN_JOB = "00000000-0000-4000-8000-000000000000"
MINER = 1000
SECTOR = 1
Await = pb.AwaitProofResponse
passed = 0


def check(what, found, expected=True):
    global passed
    if found != expected:
        sys.exit(f"FAILED {what}: found {found!r}, expected {expected!r}")
    passed += 1
    print(f"ok {what}")


def refused(what, call, request, code, *words):
    """The call must fail with this code and a message that holds the words."""
    try:
        call(request)
    except grpc.RpcError as error:
        check(f"{what} is {code.name}", error.code(), code)
        for word in words:
            check(f"{what} names {word}: {error.details()}", word in error.details())
    else:
        sys.exit(f"FAILED {what}: it succeeded")


@contextlib.contextmanager
def running(daemon, demo, folder, listen):
    """A daemon that serves; ends with the block."""
    ready = folder / "ready.json"
    log = folder / "daemon.log"
    command = [daemon, "--listen", listen, "--ready-file", ready, "--param-cache", demo / "parameters", "--state-dir", folder / "state"]
    with log.open("wb") as stderr:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
    try:
        deadline = time.monotonic() + 60
        while not ready.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"FAILED start: {log.read_text()}")
            time.sleep(0.05)
        yield json.loads(ready.read_text())["grpc"]
        process.terminate()
        check(f"the daemon on {listen} ends orderly", process.wait(timeout=60), 0)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def submit(c1, **fields):
    values = dict(proof_kind=pb.POREP_SEAL_COMMIT, sector_size=2048, sector_number=SECTOR, miner_id=MINER, vanilla_proof=c1)
    return pb.SubmitProofRequest(**(values | fields))


def standard_services(channel):
    health = health_pb2_grpc.HealthStub(channel)
    for service in ("", SERVICE):
        answer = health.Check(health_pb2.HealthCheckRequest(service=service))
        check(f"health of '{service}'", answer.status, health_pb2.HealthCheckResponse.SERVING)
    database = ProtoReflectionDescriptorDatabase(channel)
    check("reflection lists the service", SERVICE in database.get_services())
    methods = DescriptorPool(database).FindServiceByName(SERVICE).methods_by_name
    ours = pb.DESCRIPTOR.services_by_name["ProvingEngine"].methods_by_name
    check("reflection describes every method", sorted(methods), sorted(ours))


def whole_service(stub, c1, folder):
    empty = pb.GetStatusRequest()
    before = stub.GetStatus(empty).total_proofs_completed
    preload = stub.PreloadSRS(pb.PreloadSrsRequest(circuit_id=CIRCUIT))
    check("the first preload loads", preload.already_loaded, False)
    check("the second finds it loaded", stub.PreloadSRS(pb.PreloadSrsRequest(circuit_id=CIRCUIT)).already_loaded)
    loaded = {entry.circuit_id: entry.tier for entry in stub.GetStatus(empty).loaded_srs}
    check("status shows it loaded", loaded.get(CIRCUIT) in (pb.SRSStatus.HOT, pb.SRSStatus.WARM))

    job = stub.SubmitProof(submit(c1, request_id="interop-1")).job_id
    again = stub.SubmitProof(submit(c1, request_id="interop-1")).job_id
    check("the same request attaches to its job", again, job)
    early = stub.AwaitProof(pb.AwaitProofRequest(job_id=job, timeout_ms=1))
    check("a short wait ends in TIMEOUT", early.status, Await.TIMEOUT)
    check("a job that runs has no proof yet", early.proof, b"")
    result = stub.AwaitProof(pb.AwaitProofRequest(job_id=job))
    check(f"the job completes {result.error_message}", result.status, Await.COMPLETED)
    check("the proof of one partition is 192 bytes", len(result.proof), 192)
    (folder / "proof.bin").write_bytes(result.proof)
    proved = stub.Prove(pb.ProveRequest(submit=submit(c1))).result
    check(f"Prove completes {proved.error_message}", proved.status, Await.COMPLETED)
    check("status counts both", stub.GetStatus(empty).total_proofs_completed - before, 2)
    check("metrics are text", "# TYPE" in stub.GetMetrics(pb.GetMetricsRequest()).prometheus_text)

    check("a finished job was not running", stub.CancelProof(pb.CancelProofRequest(job_id=job)).was_running, False)
    jobs = [stub.SubmitProof(submit(c1)).job_id for _ in range(2)]
    stub.CancelProof(pb.CancelProofRequest(job_id=jobs[1]))
    last = stub.AwaitProof(pb.AwaitProofRequest(job_id=jobs[1]))
    check("a waiting job can be cancelled", last.status, Await.CANCELLED)
    first = stub.AwaitProof(pb.AwaitProofRequest(job_id=jobs[0]))
    check(f"the job before it goes on {first.error_message}", first.status, Await.COMPLETED)

    check("evicting unloads", stub.EvictSRS(pb.EvictSrsRequest(circuit_id=CIRCUIT)).was_loaded)
    check("evicting twice does nothing", stub.EvictSRS(pb.EvictSrsRequest(circuit_id=CIRCUIT)).was_loaded, False)


def refusals(stub, c1):
    invalid = grpc.StatusCode.INVALID_ARGUMENT
    refused("no vanilla proof", stub.SubmitProof, submit(b""), invalid, "vanilla_proof")
    refused("no JSON", stub.SubmitProof, submit(b"{"), invalid, "vanilla_proof")
    refused("another sector size", stub.SubmitProof, submit(c1, sector_size=8 << 20), invalid, "sector_size")
    refused("no kind", stub.SubmitProof, submit(c1, proof_kind=pb.PROOF_KIND_UNSPECIFIED), invalid, "proof_kind")
    refused("an unknown job", stub.AwaitProof, pb.AwaitProofRequest(job_id=UNKNOWN_JOB), grpc.StatusCode.NOT_FOUND, UNKNOWN_JOB)
    check("the daemon goes on serving", stub.GetStatus(pb.GetStatusRequest()).total_proofs_failed, 0)


def main():
    daemon, demo = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    c1 = (demo / "porep-2k.vanilla.json").read_bytes()
    limits = [("grpc.max_send_message_length", 256 << 20), ("grpc.max_receive_message_length", 256 << 20)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with running(daemon, demo, folder, "127.0.0.1:0") as address, grpc.insecure_channel(address, limits) as channel:
            stub = proving_pb2_grpc.ProvingEngineStub(channel)
            standard_services(channel)
            refusals(stub, c1)
            whole_service(stub, c1, folder)
        socket = f"unix://{folder / 'socket'}"
        # gRPC's C core would send the escaped path as :authority, which is no authority by RFC 3986; Go's and ours send "localhost".
        options = [*limits, ("grpc.default_authority", "localhost")]
        with running(daemon, demo, folder, socket) as address, grpc.insecure_channel(address, options) as channel:
            stub = proving_pb2_grpc.ProvingEngineStub(channel)
            check("status over the unix socket", stub.GetStatus(pb.GetStatusRequest()).total_proofs_completed, 0)
    print(f"{passed} passed, 0 failed")


main()
