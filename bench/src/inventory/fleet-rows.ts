import { formatCount } from "../harness/format.js";
import type { FanOutJob } from "../measure/fan-out-job.js";
import type { FleetSize } from "../measure/guest-fleet.js";
import type { LiveQueriesJob } from "../measure/live-queries-job.js";
import type { QueriesJob } from "../measure/queries-job.js";
import type { SecondReadJob } from "../measure/second-read-job.js";
import { measureProgram, type Row } from "./row.js";
import type { Scale } from "./scale.js";

/** VMs that change in one window. */
const CHANGES_PER_ROUND = 20;

/** Rows whose pools are in the measured process: no network, no simulator. */
export function fleetRows(scale: Scale): Row[] {
  return [
    ...scale.fleets.map(queries),
    live(scale, 0, false),
    ...scale.liveReaders.flatMap((readers) => [
      live(scale, readers, false),
      ...(readers === 1 ? [] : [live(scale, readers, true)]),
    ]),
    fanOut(scale, false),
    fanOut(scale, true),
    ...(["records", "views"] as const).flatMap((of) =>
      scale.shares.map((share) => secondRead(scale, of, share)),
    ),
  ];
}

/** Column of the tables: the number of VMs of all pools. */
function sizeLabel({ pools, vms }: FleetSize): string {
  return `${formatCount(pools * vms)} VMs`;
}

function queries(size: FleetSize): Row {
  const job: QueriesJob = { size };
  return {
    section: "queries",
    mode: "all",
    pool: sizeLabel(size),
    measure: () => measureProgram("queries", job),
  };
}

function live(scale: Scale, readers: number, isDistinct: boolean): Row {
  const job: LiveQueriesJob = {
    size: scale.fleet,
    readers,
    isDistinct,
    rounds: scale.liveRounds,
    changesPerRound: CHANGES_PER_ROUND,
  };
  const kind = isDistinct ? "different" : "same";
  return {
    section: "live",
    mode: readers === 0 ? "no reader" : `${readers} ${kind}`,
    pool: sizeLabel(scale.fleet),
    measure: () => measureProgram("live-queries", job),
  };
}

function fanOut(scale: Scale, hasSockets: boolean): Row {
  const job: FanOutJob = {
    size: scale.fleet,
    readers: scale.feedReaders,
    hasSockets,
    changes: scale.feedChanges,
  };
  return {
    section: "fan-out",
    mode: `${scale.feedReaders} ${hasSockets ? "sockets" : "listeners"}`,
    pool: sizeLabel(scale.fleet),
    measure: () => measureProgram("fan-out", job),
  };
}

function secondRead(scale: Scale, of: SecondReadJob["of"], share: number): Row {
  const job: SecondReadJob = { size: scale.fleet, of, share };
  return {
    section: "second-read",
    mode: `${of} ${Math.round(share * 100)} %`,
    pool: sizeLabel(scale.fleet),
    measure: () => measureProgram("second-read", job),
  };
}
