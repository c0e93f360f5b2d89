import type { Test } from "tap";
import {
  startPool,
  type PoolOptions,
  type SimulatedPool,
} from "../../src/index.js";
import type { FleetObject } from "../../src/xapi-value.js";
import { fastClock } from "./fast-clock.js";
import { TestClient } from "./raw-client.js";

export const POOL = "OpaqueRef:pool";
export const HOST = "OpaqueRef:host-1";
export const OTHER_HOST = "OpaqueRef:host-2";
export const VM = "OpaqueRef:vm-1";
export const OTHER_VM = "OpaqueRef:vm-2";
export const NETWORK = "OpaqueRef:network";

/** Two hosts, two halted VMs, a network with an interface of the first VM. */
export const tinyFleet: readonly FleetObject[] = [
  object("pool", POOL, { uuid: "uuid-pool", master: HOST }),
  object("host", HOST, { uuid: "uuid-host-1", address: "127.0.0.1" }),
  object("host", OTHER_HOST, { uuid: "uuid-host-2", address: "127.0.0.2" }),
  object("VM", VM, {
    uuid: "uuid-vm-1",
    name_label: "one",
    memory_static_max: 4294967296,
    HVM_shadow_multiplier: 4,
  }),
  object("VM", OTHER_VM, { uuid: "uuid-vm-2", name_label: "two" }),
  object("network", NETWORK, { uuid: "uuid-network" }),
  object("VIF", "OpaqueRef:vif", { uuid: "uuid-vif", VM, network: NETWORK }),
];

function object(
  className: string,
  ref: string,
  record: FleetObject["record"],
): FleetObject {
  return { className, ref, record };
}

/** A small pool on a clock twenty times as fast, stopped with the test, and a client that is signed in. */
export async function tinyPool(
  t: Test,
  options: PoolOptions = {},
): Promise<{ pool: SimulatedPool; client: TestClient }> {
  const pool = await startPool({
    fleet: tinyFleet,
    clock: fastClock(20),
    refusalMs: 0,
    ...options,
  });
  t.teardown(() => pool.stop());
  const client = await new TestClient(pool.url).logIn();
  return { pool, client };
}
