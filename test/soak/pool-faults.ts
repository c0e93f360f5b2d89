import type { FaultName } from "@xo-server/xapi-sim";
import { pick, type Random } from "../faults/seeded-random.js";
import { setFault, type Simulated } from "../simulated.js";

const faults: readonly (readonly [name: FaultName, setting: object])[] = [
  ["sessionInvalid", { value: true, times: 1 }],
  ["eventsLost", { value: true, times: 1 }],
  // Not `silent`: the simulator would not answer the request that ends the fault.
  ["hang", { value: true }],
  ["http500", { value: true, method: "event.from" }],
  ["hang", { value: true, method: "event.from" }],
  ["cut", { value: 100, method: "event.from" }],
  ["badJson", { value: true, method: "VM.get_all_records" }],
  ["delay", { value: 3_000, method: "VM.get_all_records" }],
  ["trickle", { value: 5_000, method: "event.from" }],
];

/** Applies a fault to one of the pools. @returns the function that ends it */
export async function randomPoolFault(
  pools: readonly Simulated[],
  random: Random,
): Promise<() => Promise<void>> {
  const pool = pick(random, pools);
  const [name, setting] = pick(random, faults);
  // Retries later if the machine is too busy to answer.
  const change = (value: object | boolean) =>
    setFault(pool, name, value).catch(() => setFault(pool, name, value));
  await change(setting);
  return () => change(false);
}
