import { fileURLToPath } from "node:url";
import t from "tap";
import { startPool } from "@xo-server/xapi-sim";
import { clientFile, missing } from "../clients/testbed.js";
import { runProgram } from "./run-program.js";

const CLIENT = fileURLToPath(
  new URL("../../peers/XenApiClient.java", import.meta.url),
);

const skip = missing("java", "jars");
/** Jars of com.citrix.hypervisor:xen-api and of what it depends on. */
const classpath = clientFile("java", "jars", "*");

t.test("the Java SDK works with a pool", { skip }, async (t) => {
  const pool = await startPool({ hosts: 2, vms: 20 });
  t.teardown(() => pool.stop());
  const seen = JSON.parse(
    await runProgram("java", ["-cp", classpath, CLIENT, pool.url]),
  ) as Record<string, number | string>;
  t.match(seen, {
    hosts: 2,
    status: /success/i,
    powerState: /running/i,
    failure: "halted/running",
  });
  t.ok(Number(seen["vms"]) > 20, "guests, templates and control domains");
  t.ok(Number(seen["memory"]) > 2 ** 28, "bytes, past 32 bits too");
  t.ok(Number(seen["second"]) > 0, "the start is reported by events");
});
