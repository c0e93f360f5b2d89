import type { FleetSize } from "../measure/guest-fleet.js";

/** How much of everything: what the document shows, or just enough to see that the programs work. */
export interface Scale {
  /** Fleets that queries run on. */
  readonly fleets: readonly FleetSize[];
  /** The fleet that the other rows within one process are about. */
  readonly fleet: FleetSize;
  /** Profile of the simulator for rows over the network. */
  readonly profile: string;
  readonly liveReaders: readonly number[];
  readonly liveRounds: number;
  readonly feedReaders: number;
  readonly feedChanges: number;
  /** Bounds of caches as parts of the working set. */
  readonly shares: readonly number[];
  readonly changesPerSecond: number;
  readonly churnMs: number;
  /** Before it is measured. */
  readonly churnQuietMs: number;
  /** Readers of the feed meanwhile. */
  readonly churnReaders: readonly number[];
}

export const fullScale: Scale = {
  fleets: [
    { pools: 5, vms: 1000 },
    { pools: 100, vms: 1000 },
  ],
  fleet: { pools: 5, vms: 1000 },
  profile: "A",
  liveReaders: [1, 100, 1000],
  liveRounds: 100,
  feedReaders: 1000,
  feedChanges: 50,
  shares: [0.5, 0.75, 0.9, 0.95, 1, 1.1, 1.25, 1.5],
  changesPerSecond: 200,
  churnMs: 20_000,
  churnQuietMs: 3_000,
  churnReaders: [0, 1, 10],
};

export const smokeScale: Scale = {
  fleets: [{ pools: 2, vms: 60 }],
  fleet: { pools: 2, vms: 60 },
  profile: "C",
  liveReaders: [5],
  liveRounds: 3,
  feedReaders: 5,
  feedChanges: 3,
  shares: [0.5],
  changesPerSecond: 50,
  churnMs: 1_000,
  churnQuietMs: 300,
  churnReaders: [1],
};
