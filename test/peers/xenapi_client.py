"""Drives a pool with XenAPI from PyPI, the official Python SDK, and prints what it saw as JSON."""

import json
import sys
import time

import XenAPI

session = XenAPI.Session(sys.argv[1], ignore_ssl=True)
session.xenapi.login_with_password("root", "password", "1.0", "peer")
xenapi = session.xenapi
vms = xenapi.VM.get_all_records()
ref, vm = next(
    (ref, vm)
    for ref, vm in vms.items()
    if vm["power_state"] == "Halted"
    and not vm["is_a_template"]
    and not vm["is_a_snapshot"]
)
first = xenapi.event_from(["VM/" + ref], "", 5.0)
task = xenapi.Async.VM.start(ref, False, False)
while xenapi.task.get_status(task) == "pending":
    time.sleep(0.02)
second = xenapi.event_from(["VM/" + ref], first["token"], 5.0)
try:
    xenapi.VM.start(ref, False, False)
    failure = None
except XenAPI.Failure as error:
    failure = [error.details[0], *error.details[2:]]
snapshot = xenapi.VM.snapshot(ref, "by a peer")
seen = {
    "version": session.API_version,
    "types": {
        name: type(vm[name]).__name__
        for name in (
            "memory_static_max",
            "is_a_template",
            "HVM_shadow_multiplier",
            "snapshot_time",
        )
    },
    "operations": [
        event["operation"] for event in first["events"] + second["events"]
    ],
    "status": xenapi.task.get_status(task),
    "powerState": xenapi.VM.get_power_state(ref),
    "failure": failure,
    "snapshot": xenapi.VM.get_name_label(snapshot),
}
xenapi.session.logout()
print(json.dumps(seen))
