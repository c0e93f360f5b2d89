import { readArguments, readNumber, readRuns } from "../harness/arguments.js";

export interface EventsOptions {
  readonly profile: string;
  /** Changes a second that the simulator makes. */
  readonly churn: number;
  readonly throttlesMs: readonly number[];
  readonly durationMs: number;
  readonly runs: number;
  readonly json: string | undefined;
  readonly out: string | undefined;
  /** A second of the smallest pool: checks only that the bench works. */
  readonly smoke: boolean;
}

export const eventsUsage =
  "[A] [--churn N] [--throttle MS ...] [--seconds N] [--runs N] [--json FILE] [--out DIR] [--smoke]";

const CHURN = 2000;
const THROTTLES_MS = [0, 100, 250, 500, 1000];

/** @throws UsageError */
export function parseEventsOptions(
  args: readonly string[],
  documents: string,
): EventsOptions {
  const { values, positionals } = readArguments(args, {
    churn: { type: "string" },
    throttle: { type: "string", multiple: true },
    seconds: { type: "string" },
    runs: { type: "string" },
    json: { type: "string" },
    out: { type: "string" },
    smoke: { type: "boolean" },
  });
  if (values.smoke === true) return smokeOptions(values.json);
  const churn = readNumber("churn", values.churn) ?? CHURN;
  const profile = positionals[0] ?? "A";
  const throttlesMs =
    values.throttle?.map((text) => readNumber("throttle", text)!) ??
    THROTTLES_MS;
  // Only the run that the document describes replaces it by default.
  const full =
    profile === "A" && churn === CHURN && values.throttle === undefined;
  return {
    profile,
    churn,
    throttlesMs,
    durationMs: (readNumber("seconds", values.seconds) ?? 15) * 1000,
    runs: readRuns(values.runs) ?? 3,
    json: values.json,
    out: values.out ?? (full ? documents : undefined),
    smoke: false,
  };
}

function smokeOptions(json: string | undefined): EventsOptions {
  return {
    profile: "C",
    churn: 50,
    throttlesMs: [100],
    durationMs: 1000,
    runs: 1,
    json,
    out: undefined,
    smoke: true,
  };
}
