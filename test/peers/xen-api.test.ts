import { fileURLToPath } from "node:url";
import t from "tap";
import { startPool, type PoolOptions } from "@xo-server/xapi-sim";
import { runProgram } from "./run-program.js";

const CLIENT = fileURLToPath(
  new URL("../../peers/xen-api-client.js", import.meta.url),
);

const pools: readonly (readonly [title: string, options: PoolOptions])[] = [
  ["over JSON-RPC", {}],
  ["over XML-RPC, on a host too old for JSON-RPC", { noJsonRpc: true }],
  ["over TLS", { tls: true }],
  ["while the pool changes all the time", { churn: 200 }],
];

for (const [title, options] of pools) {
  t.test(`the npm package xen-api works with a pool ${title}`, async (t) => {
    const pool = await startPool({ hosts: 2, vms: 20, ...options });
    t.teardown(() => pool.stop());
    const seen = JSON.parse(
      await runProgram(process.execPath, [CLIENT, pool.url]),
    ) as Record<string, unknown>;
    t.ok(Number(seen["objects"]) > 500, "it has the pool's objects");
    // The changes pause running VMs, also this one.
    const isChanging = options.churn !== undefined;
    t.match(seen, {
      description: "seen by a peer",
      powerState: isChanging ? /^(Running|Paused)$/ : "Running",
      failure: {
        code: "VM_BAD_POWER_STATE",
        params: ["halted", isChanging ? /^(running|paused)$/ : "running"],
      },
    });
  });
}
