import { pick, type Random } from "../seeded-random.js";
import { positions, type Position } from "./call-proxy.js";

/** What happens at the moment of a round. */
export const faults = ["full", "gone", "coordinator"] as const;
export type Fault = (typeof faults)[number];

/** After this number of calls, or of changes of files, from the start of the runs on. */
export interface Moment {
  readonly of: "call" | "file";
  readonly at: number;
  readonly position: Position;
}

export interface RoundPlan {
  /** Numbers of the jobs that run at the same time. */
  readonly jobs: readonly number[];
  readonly moment: Moment;
  readonly kills: "server" | "worker" | "both" | "none";
  readonly fault: Fault | undefined;
  /** The next starts are killed too, at these moments. */
  readonly startKills: readonly Moment[];
  readonly isVerified: boolean;
}

/** What a run of one job without disturbance does. */
export interface Usual {
  readonly calls: number;
  readonly files: number;
}

/** Of a start until the server continues its tasks. */
const START: Usual = { calls: 40, files: 40 };

/** The same plans for the same seed. @param count number of jobs */
export function planRound(
  random: Random,
  count: number,
  usual: Usual,
): RoundPlan {
  const isFault = random(4) === 0;
  const jobs = [...Array(count).keys()].filter(() => random(2) === 0);
  if (jobs.length === 0) jobs.push(random(count));
  // The last calls and changes may not be reached.
  const share = 0.8 * jobs.length;
  const calls = Math.ceil(share * usual.calls);
  const files = Math.ceil(share * usual.files);
  const startKills: Moment[] = [];
  while (startKills.length < 4 && random(2) === 0)
    startKills.push(
      momentOf(random, {
        calls: START.calls + (random(2) === 0 ? calls : 0),
        files: START.files + (random(2) === 0 ? files : 0),
      }),
    );
  return {
    jobs,
    moment: momentOf(random, { calls, files }),
    kills: isFault
      ? pick(random, ["none", "server", "server", "worker"])
      : pick(random, ["server", "server", "worker", "both"]),
    fault: isFault ? pick(random, faults) : undefined,
    startKills,
    isVerified: random(6) === 0,
  };
}

function momentOf(random: Random, { calls, files }: Usual): Moment {
  return random(2) === 0
    ? { of: "call", at: 1 + random(calls), position: pick(random, positions) }
    : { of: "file", at: 1 + random(files), position: "after" };
}

export function describeMoment({ of, at, position }: Moment): string {
  return of === "call" ? `${position} call ${at}` : `at change ${at} of files`;
}
