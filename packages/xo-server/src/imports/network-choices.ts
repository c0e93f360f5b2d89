import type { ForeignVm } from "@xo-server/backup";
import { XoError, type Ref } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolScope } from "../vms/pool-scope.js";

/** Parameter: the networks for the VIFs of an imported VM. */
export const networkChoices = Type.Array(Type.String({ minLength: 1 }), {
  maxItems: 200,
  description:
    "Networks for the VIFs of the VM: `NAME=ID` for NICs in the network NAME of the source, `ID` for NICs in their order; the last ID is for all further ones. `NAME=` leaves a NIC out.",
});

export interface VifChoice {
  readonly network: Ref;
  readonly mtu: number | undefined;
  readonly mac: string | undefined;
}

/** An id, or undefined where the NIC is left out. */
type Choice = string | undefined;

/**
 * The networks that the user has chosen for the NICs of a VM.
 * @throws XoError INVALID_PARAMETERS: none is chosen for a NIC; NO_SUCH_OBJECT, FORBIDDEN
 */
export function chooseNetworks(
  nics: ForeignVm["nics"],
  choices: readonly string[],
  scope: PoolScope,
): VifChoice[] {
  const { byName, inOrder } = readChoices(choices);
  const missing = new Set<string>();
  const ids = nics.map(({ network }, i): Choice => {
    if (byName.has(network)) return byName.get(network);
    const id = inOrder[i] ?? inOrder.at(-1);
    if (id === undefined) missing.add(network);
    return id;
  });
  if (missing.size > 0) throw unmapped([...missing]);
  return ids.flatMap((id, i) => {
    if (id === undefined) return [];
    const { ref, object } = scope.use("operate:attach", "network", id);
    const MTU = object["MTU"];
    const mtu = typeof MTU === "number" ? MTU : undefined;
    return [{ network: ref, mtu, mac: nics[i]!.mac }];
  });
}

/** Checks the rights on networks before the VM is known. @throws XoError NO_SUCH_OBJECT, FORBIDDEN */
export function checkChoices(
  choices: readonly string[],
  scope: PoolScope,
): void {
  const { byName, inOrder } = readChoices(choices);
  for (const id of [...byName.values(), ...inOrder])
    if (id !== undefined) scope.use("operate:attach", "network", id);
}

function readChoices(choices: readonly string[]): {
  readonly byName: ReadonlyMap<string, Choice>;
  readonly inOrder: readonly string[];
} {
  const byName = new Map<string, Choice>();
  const inOrder: string[] = [];
  for (const choice of choices) {
    const at = choice.lastIndexOf("=");
    if (at < 0) inOrder.push(choice);
    else byName.set(choice.slice(0, at), choice.slice(at + 1) || undefined);
  }
  return { byName, inOrder };
}

function unmapped(names: readonly string[]): XoError {
  const all = names.map((name) => `"${name}"`).join(", ");
  return new XoError("INVALID_PARAMETERS", {
    reason: `networks: choose a network of the pool for ${all} of the source: NAME=ID, or ID for all`,
  });
}
