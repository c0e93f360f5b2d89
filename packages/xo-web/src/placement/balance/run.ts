import type { HostFigures, Purpose, Score } from "@xo-server/placement";
import { fill } from "../../locale/messages.js";
import { purposeWords, sentenceOf } from "../rule-text.js";
import type { Sentence, Wording } from "../rule-text.js";
import { busiest } from "./host-changes.js";

export type RunStatus =
  "pending" | "success" | "failure" | "stopped" | "interrupted" | "dry-run";
export type MoveStatus =
  "planned" | "waiting" | "migrating" | "done" | "failed" | "skipped";

interface Told {
  readonly code: string;
  readonly message: string;
}

/** A move that the load balancer has made, or would have. */
export interface RunMove {
  readonly vm: string;
  readonly vmName: string;
  readonly from: string;
  readonly fromName: string;
  readonly to: string;
  readonly toName: string;
  readonly purpose: Purpose;
  readonly score: Score;
  readonly status: MoveStatus;
  readonly error?: Told;
}

/** What it did to a pool once, as `balancer.getHistory` tells it. Times in ms since 1970. */
export interface Run {
  readonly id: string;
  readonly status: RunStatus;
  readonly start: number;
  readonly end?: number;
  readonly taskId?: string;
  readonly by: {
    readonly cause: "automatic" | "manual";
    readonly userName: string;
  };
  readonly goal: "performance" | "consolidate";
  readonly moves: readonly RunMove[];
  /** Moves of VMs that may not be seen. */
  readonly hidden: number;
  readonly figuresBefore: readonly HostFigures[];
  /** As planned. */
  readonly figuresAfter: readonly HostFigures[];
  /** As found when all of what is measured was of after the moves. */
  readonly figuresMeasured?: readonly HostFigures[];
  readonly emptied: readonly string[];
  /** Why it did not come to its end. */
  readonly reason?: Told;
}

export interface RunPage {
  readonly runs: readonly Run[];
  /** For the next page; absent: there is none. */
  readonly cursor?: string;
}

const runTones: Readonly<Record<RunStatus, string>> = {
  pending: "busy",
  success: "good",
  failure: "bad",
  stopped: "warn",
  interrupted: "warn",
  "dry-run": "",
};
const moveTones: Readonly<Record<MoveStatus, string>> = {
  planned: "",
  waiting: "",
  migrating: "busy",
  done: "good",
  failed: "bad",
  skipped: "warn",
};

export function runTone({ status }: Pick<Run, "status">): string {
  return runTones[status];
}

export function moveTone({ status }: Pick<RunMove, "status">): string {
  return moveTones[status];
}

/** The newest page before older ones: what is in both is in the newer. */
export function joinRuns(
  newest: readonly Run[],
  older: readonly Run[],
): readonly Run[] {
  const known = new Set(newest.map(({ id }) => id));
  return [...newest, ...older.filter(({ id }) => !known.has(id))];
}

/** Why a VM was moved, with the figures of then. */
export function runReason(
  { figuresBefore }: Pick<Run, "figuresBefore">,
  { purpose, from }: Pick<RunMove, "purpose" | "from">,
  { text, formats }: Wording,
): Sentence {
  const figures = figuresBefore.find(({ host }) => host === from);
  if (purpose !== "overload" || figures === undefined)
    return [purposeWords(purpose, text)];
  return sentenceOf(text.placement.history.wasAt, {
    host: { type: "host", id: from },
    cpu: formats.share(figures.cpu),
    memory: formats.share(figures.memory),
  });
}

/** How full the fullest host was, was to be, and has become; undefined: there are no figures. */
export function runFigures(
  { figuresBefore, figuresAfter, figuresMeasured = [] }: Run,
  by: "cpu" | "memory",
  { text, formats }: Wording,
): string | undefined {
  const share = (figures: readonly HostFigures[]): string => {
    const top = busiest(figures, by);
    return top === undefined ? "" : formats.share(top[by]);
  };
  const { figures, measured } = text.placement.history;
  if (figuresBefore.length === 0) return undefined;
  const template = figuresMeasured.length > 0 ? measured : figures;
  return fill(template[by], {
    before: share(figuresBefore),
    after: share(figuresAfter),
    found: share(figuresMeasured),
  });
}
