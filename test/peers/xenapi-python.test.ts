import { fileURLToPath } from "node:url";
import t from "tap";
import { startPool } from "@xo-server/xapi-sim";
import { clientFile, missing } from "../clients/testbed.js";
import { runProgram } from "./run-program.js";

const CLIENT = fileURLToPath(
  new URL("../../peers/xenapi_client.py", import.meta.url),
);

/** A Python that has the package XenAPI. */
const PYTHON = ["xenapi", "bin", "python3"] as const;
const skip = missing(...PYTHON);

t.test("the Python SDK XenAPI works with a pool", { skip }, async (t) => {
  const pool = await startPool({ hosts: 2, vms: 20 });
  t.teardown(() => pool.stop());
  const seen: unknown = JSON.parse(
    await runProgram(clientFile(...PYTHON), [CLIENT, pool.url]),
  );
  t.match(seen, {
    version: "2.23",
    types: {
      memory_static_max: "str",
      is_a_template: "bool",
      HVM_shadow_multiplier: "float",
      snapshot_time: "DateTime",
    },
    operations: ["add", "mod"],
    status: "success",
    powerState: "Running",
    failure: ["VM_BAD_POWER_STATE", "halted", "running"],
    snapshot: "by a peer",
  });
});
