import { fileURLToPath } from "node:url";
import t from "tap";
import { startPool } from "@xo-server/xapi-sim";
import { runProgram } from "./run-program.js";

const CLIENT = fileURLToPath(
  new URL("../../peers/XenApiClient.java", import.meta.url),
);

/** Jars of com.citrix.hypervisor:xen-api and of what it depends on, as java takes them. */
const classpath = process.env["XENAPI_JAVA_CLASSPATH"];

const skip =
  classpath === undefined &&
  "XENAPI_JAVA_CLASSPATH names no jars of the Java SDK (mvn dependency:build-classpath)";

t.test("the Java SDK works with a pool", { skip }, async (t) => {
  const pool = await startPool({ hosts: 2, vms: 20 });
  t.teardown(() => pool.stop());
  const seen = JSON.parse(
    await runProgram("java", ["-cp", classpath!, CLIENT, pool.url]),
  ) as Record<string, number | string>;
  t.match(seen, {
    hosts: 2,
    status: /success/i,
    powerState: /running/i,
    failure: "halted/running",
  });
  t.ok(Number(seen["vms"]) > 20, "guests, templates and control domains");
  t.ok(Number(seen["memory"]) > 2 ** 28, "bytes, past 32 bits too");
  t.ok(Number(seen["second"]) > 0, "the start is told by events");
});
