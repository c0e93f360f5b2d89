/** Sizes of a run: those of the document, or small ones that show that the programs work. */
export interface ApiScale {
  /** Arguments of the simulator for the one pool that most rows are about. */
  readonly pool: readonly string[];
  readonly poolName: string;
  /** Arguments for two pools of half its size: a user sees one of them. */
  readonly halves: readonly string[];
  readonly halvesName: string;
  /** Lists per run; the programs that are compared take turns. */
  readonly lists: number;
  readonly restMs: number;
  /** Connections that receive changes while lists are requested. */
  readonly liveClients: number;
  /** Changes per second in the pool meanwhile. */
  readonly churn: number;
  readonly fanOutClients: number;
  readonly fanOutChanges: number;
  /** Small messages per measurement; of large ones a quarter. */
  readonly messages: number;
  readonly idleSockets: number;
  /** Time after which a started server is idle. */
  readonly settleMs: number;
}

export const fullScale: ApiScale = {
  pool: ["--pool", "A", "--prepare", "json"],
  poolName: "A",
  halves: [
    "--pool",
    "A",
    "--hosts",
    "32",
    "--vms",
    "2500",
    "--prepare",
    "json",
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
  halves: ["--pool", "C", "--hosts", "2", "--vms", "30", "--prepare", "json"],
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
