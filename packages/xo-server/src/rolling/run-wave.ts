import type { Action } from "@xo-server/placement";
import type { PoolObject } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { nameOf } from "../hosts/evacuation-blockers.js";
import { emptyWave } from "./empty-wave.js";
import type { PreFlight } from "./pre-flight.js";
import type { RollingJournal } from "./rolling-journal.js";
import type { RollingParts } from "./rolling-parts.js";
import type { Turn } from "./rolling-record.js";
import { isRebooting, takeDown, type TurnParts } from "./turn.js";

/** Hosts that are taken down together. */
export interface Wave {
  readonly turns: readonly Turn[];
  /** Absent: XAPI chooses the target hosts. */
  readonly actions?: readonly Action[] | undefined;
  readonly shutDown: PreFlight["shutDown"];
}

/** Evacuates the hosts of a wave, takes them down, and waits until each is up and verified. */
export async function runWave(
  { turns, actions, shutDown }: Wave,
  hosts: readonly PoolObject[],
  parts: RollingParts,
  journal: RollingJournal,
): Promise<void> {
  const { objects, clock, work } = parts;
  const startedAt = clock.now();
  const isOne = hosts.length === 1;
  const failed: { error: Error; at: string }[] = [];
  const up = turns.filter(
    (turn) => !isRebooting(objects.get(turn.host, "host"), turn),
  );
  if (up.length > 0)
    await emptyWave(
      { hosts, actions, shutDown },
      turnParts(work, hosts, { parts, journal }),
      (one) => turnParts(work, [one], { parts, journal }),
    );
  const emptyAt = clock.now();
  await Promise.all(
    turns.map(async (turn, index) => {
      const host = hosts[index]!;
      let at = "";
      const onStep = (where: string) => (at = where);
      const run = async (part: TaskContext) => {
        await takeDown(
          turn,
          turnParts(part, [host], { parts, journal, onStep }),
        );
        const { completed = [] } = journal.record;
        await journal.keep({ completed: [...completed, turn.host] });
      };
      await (isOne ? run(work) : work.part(nameOf(host), run)).catch(
        (error: unknown) => failed.push({ error: error as Error, at }),
      );
    }),
  );
  const moves = actions?.length ?? 0;
  const ids = turns.map(({ host }) => host);
  const done = { hosts: ids, startedAt, emptyAt, endedAt: clock.now(), moves };
  await journal.keep({ waves: [...(journal.record.waves ?? []), done] });
  const [first] = failed;
  if (first === undefined) return;
  journal.at = first.at;
  throw first.error;
}

/** @param onStep called with the name of the current step */
function turnParts(
  work: TaskContext,
  hosts: readonly PoolObject[],
  {
    parts,
    journal,
    onStep,
  }: {
    readonly parts: RollingParts;
    readonly journal: RollingJournal;
    readonly onStep?: (at: string) => void;
  },
): TurnParts {
  const names = hosts.map(nameOf).join(", ");
  const [{ id }] = hosts as [PoolObject];
  return {
    ...parts,
    objects: parts.objects.forTask(work),
    work,
    isUpdate: journal.kind === "update",
    completed: journal.record.completed ?? [],
    shutDown: () => journal.record.shutDown[id] ?? [],
    keepShutDown: (vms) =>
      journal.keep({ shutDown: { ...journal.record.shutDown, [id]: vms } }),
    at: (step) => {
      journal.at = `${names}: ${step}`;
      onStep?.(journal.at);
    },
  };
}
