/** How much of everything: what the document shows, or just enough to see that the programs work. */
export interface ApiScale {
  /** Arguments of the simulator for the one pool that most rows are about. */
  readonly pool: readonly string[];
  readonly poolName: string;
  /** Arguments for two pools of half its size: a user sees one of them. */
  readonly halves: readonly string[];
  readonly halvesName: string;
  /** Lists a run, in turn with what they are compared with. */
  readonly lists: number;
  readonly restMs: number;
  /** Connections that receive changes while lists are requested. */
  readonly liveClients: number;
  /** Changes a second in the pool meanwhile. */
  readonly churn: number;
  readonly fanOutClients: number;
  readonly fanOutChanges: number;
  /** Small messages a measurement; large ones are a quarter of it. */
  readonly messages: number;
  readonly idleSockets: number;
  /** Until all that a server does of its own accord is done. */
  readonly settleMs: number;
}

export const fullScale: ApiScale = {
  pool: ["--pool", "A", "--prepare", "json"],
  poolName: "A",
  halves: [
    ...["--pool", "A", "--hosts", "32", "--vms", "2500"],
    ...["--prepare", "json"],
  ],
  halvesName: "two pools of 2,500 VMs",
  lists: 5,
  restMs: 6_000,
  liveClients: 100,
  churn: 50,
  fanOutClients: 1000,
  fanOutChanges: 40,
  messages: 400_000,
  idleSockets: 1000,
  settleMs: 2_000,
};

export const smokeScale: ApiScale = {
  pool: ["--pool", "C", "--prepare", "json"],
  poolName: "C",
  halves: [
    ...["--pool", "C", "--hosts", "2", "--vms", "30"],
    ...["--prepare", "json"],
  ],
  halvesName: "two pools of 30 VMs",
  lists: 2,
  restMs: 400,
  liveClients: 5,
  churn: 20,
  fanOutClients: 10,
  fanOutChanges: 3,
  messages: 2_000,
  idleSockets: 20,
  settleMs: 400,
};
