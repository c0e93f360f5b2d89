import { textOf } from "../actions/plan/text-of.js";
import type { Json } from "@xo-server/kit";
import type { ObjectRow } from "../api/object-row.js";
import type { Plan, Step } from "../actions/plan/action.js";
import type { Vm } from "../objects/vm.js";
import type { Vbd, Vif } from "../objects/devices.js";

interface Migration {
  readonly host: string;
  readonly movesDisks: boolean;
  readonly isOtherPool: boolean;
  /** SR by disk. */
  readonly srs: Readonly<Record<string, string>>;
  /** Network by interface. */
  readonly networks: Readonly<Record<string, string>>;
  /** Network that carries the migration; undefined: the management network. */
  readonly network: string | undefined;
}

/** Owners of disks and VIFs: a call may name only those of its VM. */
interface Owners {
  readonly vbds: readonly Vbd[];
  readonly vifs: readonly Vif[];
}

/** The operations of a migration, and those that undo it. */
export function planMigration(
  vms: readonly Vm[],
  input: Migration,
  owners: Owners,
): Plan {
  const steps = vms.map((vm): Step => {
    const params: Record<string, Json> = { targetHost: input.host };
    if (input.movesDisks)
      params["mapVdisSrs"] = pick(
        input.srs,
        owners.vbds.filter(({ VM }) => VM === vm.id).map(({ VDI }) => VDI),
      );
    if (input.isOtherPool)
      params["mapVifsNetworks"] = pick(
        input.networks,
        owners.vifs.filter(({ $VM }) => $VM === vm.id).map(({ id }) => id),
      );
    if (input.network !== undefined) params["migrationNetwork"] = input.network;
    return { operation: orderOf(params), objects: [vm] };
  });
  return { steps: merged(steps), undo: backOf(input) };
}

const orderOf = (params: Readonly<Record<string, Json>>) => ({
  method: "vm.migrate",
  idParameter: "vm",
  params,
});

function pick(
  from: Readonly<Record<string, string>>,
  keys: readonly (string | undefined)[],
): Record<string, Json> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = key === undefined ? undefined : from[key];
      return key === undefined || value === undefined ? [] : [[key, value]];
    }),
  );
}

/** VMs with the same operation are one step. */
function merged(steps: readonly Step[]): readonly Step[] {
  const found = new Map<string, Step>();
  for (const step of steps) {
    const key = JSON.stringify(step.operation);
    const before = found.get(key)?.objects ?? [];
    found.set(key, { ...step, objects: [...before, ...step.objects] });
  }
  return [...found.values()];
}

/** Storage migrations have no undo. */
function backOf({ movesDisks }: Migration) {
  return (vms: readonly ObjectRow[]): readonly Step[] | undefined => {
    const wereRunning = vms.every((vm) => vm["power_state"] === "Running");
    if (movesDisks || !wereRunning) return undefined;
    return merged(
      vms.map((vm) => ({
        operation: orderOf({ targetHost: textOf(vm["$container"]) }),
        objects: [vm],
      })),
    );
  };
}
