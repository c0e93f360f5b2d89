import type { Queries } from "@xo-server/inventory";
import type { HandlerContext } from "../../operations/operation.js";
import type { RollingPreview } from "../../rolling/preview.js";
import { HIDDEN, hiddenIds, replaceIds } from "../placement/hide-vms.js";

type Reader = Pick<HandlerContext, "user" | "objects">;

/**
 * The plan of a rolling update for a caller who may not read all its VMs and hosts. All steps and
 * problems remain, so that figures are right; ids, names and reasons of hidden objects are replaced.
 */
export async function hideInPreview(
  preview: RollingPreview,
  reader: Reader,
): Promise<RollingPreview> {
  const { problems, hosts, waves, shutDown } = preview;
  const ids = new Set([
    ...problems.flatMap(({ id, host = id }) => [id, host]),
    ...hosts.map(({ id }) => id),
    ...waves.flatMap((wave) => wave.hosts),
    ...waves.flatMap(({ moves }) => moves.flatMap(Object.values<string>)),
    ...shutDown,
  ]);
  const hidden = await hiddenIds(ids, reader);
  if (hidden.size === 0) return preview;
  const named = {
    ...preview,
    problems: problems.map((one) =>
      hidden.has(one.id) ? { ...one, name: HIDDEN, reason: HIDDEN } : one,
    ),
    hosts: hosts.map((one) =>
      hidden.has(one.id) ? { ...one, name: HIDDEN } : one,
    ),
  };
  return replaceIds(named, hidden) as RollingPreview;
}

/** What the states of runs in progress and of ended ones have in common. */
interface RollingState {
  /** Ids of hosts; of an ended run their number. */
  readonly hosts: readonly string[] | number;
  readonly waves?: readonly { readonly hosts: readonly string[] }[];
  readonly stopped?: string;
}

/**
 * The state of a rolling update for a caller who may not read all VMs and hosts of the pool: the
 * reason of a stop may name any of them.
 * @param pool its id
 */
export async function hideInState<T extends RollingState>(
  state: T,
  pool: string,
  reader: Reader & { readonly queries: Pick<Queries, "count"> },
): Promise<T> {
  const { hosts, waves = [], stopped } = state;
  const ids = [
    ...(typeof hosts === "number" ? [] : hosts),
    ...waves.flatMap((wave) => wave.hosts),
  ];
  const hidden = await hiddenIds(ids, reader);
  if (hidden.size === 0 && (await mayReadAllVms(pool, reader))) return state;
  const shown = stopped === undefined ? state : { ...state, stopped: HIDDEN };
  return replaceIds(shown, hidden) as T;
}

async function mayReadAllVms(
  pool: string,
  { user, queries }: Parameters<typeof hideInState>[2],
): Promise<boolean> {
  if (user === undefined || user.isAdmin) return true;
  const extent = user.rights.extent("read", "VM");
  if (typeof extent === "string") return extent === "all";
  const all = { type: "VM", filter: `$pool:${JSON.stringify(pool)}` };
  const [count, readable] = await Promise.all([
    queries.count(all),
    queries.count({ ...all, where: extent }),
  ]);
  return count === readable;
}
