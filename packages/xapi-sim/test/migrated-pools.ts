import type { Test } from "tap";
import {
  disksOf,
  placesOf,
  startSide,
  type Side,
} from "./support/two-pools.js";

export type Token = Record<string, string>;

/** Two pools, and how to send a VM from one to the other. */
export async function twoPools(t: Test, pace = 0) {
  const here = await startSide(t, { seed: 1, pace });
  const there = await startSide(t, { seed: 2, pace });
  const places = placesOf(there);
  const token = (await there.client.call(
    "host.migrate_receive",
    places.host,
    places.network,
    {},
  )) as Token;
  return { here, there, places, token };
}

/** Parameters of VM.migrate_send with everything mapped. */
export function mapped(
  { db }: Side,
  vm: string,
  { sr, network, token }: { sr: string; network: string; token: Token },
  options: Record<string, string> = {},
): readonly unknown[] {
  const record = db.get("VM", vm);
  const disks = disksOf(db, record).map((vdi) => [vdi, sr] as const);
  const vifs = (record["VIFs"] as string[]).map(
    (vif) => [vif, network] as const,
  );
  return [
    vm,
    token,
    true,
    Object.fromEntries(disks),
    Object.fromEntries(vifs),
    options,
    {},
  ];
}
