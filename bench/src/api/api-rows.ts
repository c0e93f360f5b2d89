import { measureInChild } from "../harness/child.js";
import type { Figures } from "../harness/figures.js";
import { startSimulator, type Simulator } from "../harness/simulator.js";
import type { ApiJob } from "./api-job.js";
import type { ApiOptions } from "./api-options.js";
import { fullScale, smokeScale, type ApiScale } from "./api-scale.js";

export type Section =
  | "all-objects"
  | "rest-list"
  | "fan-out"
  | "messages"
  | "rights"
  | "idle-sockets";

/** Some lines of the document, measured by one program in a fresh process, with a fresh server. */
export interface ApiRow {
  readonly section: Section;
  /** Unique in its section. */
  readonly mode: string;
  /** What it is about. */
  readonly pool: string;
  measure(): Promise<Figures>;
}

interface ApiRows {
  readonly rows: readonly ApiRow[];
  /** Ends the simulators. */
  readonly stop: () => Promise<void>;
}

const TIMEOUT_MS = 240_000;

/**
 * Simulators are started when the first row needs them, and reused: creating 5,000 VMs takes time.
 */
export function createApiRows({ smoke, profile }: ApiOptions): ApiRows {
  const scale = smoke ? smokeScale : fullScale;
  const pool = lazySimulator(scale.pool);
  const halves = lazySimulator(scale.halves);
  const nodeOptions =
    profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];

  function row(section: Section, mode: string, about: About = {}): ApiRow {
    const { simulator, name = "no pool", throttleMs } = about;
    return {
      section,
      mode,
      pool: name,
      async measure() {
        const pools = (await simulator?.get())?.pools ?? [];
        const job: ApiJob = {
          scale,
          nodeOptions,
          pools: pools.map((one, i) => ({ ...one, name: `pool ${i + 1}` })),
          ...(throttleMs === undefined ? {} : { throttleMs }),
        };
        const program = `api/programs/${section}.js`;
        return measureInChild({ program, job, timeoutMs: TIMEOUT_MS });
      },
    };
  }

  const ofPool: About = { simulator: pool, name: scale.poolName };
  const ofHalves: About = { simulator: halves, name: scale.halvesName };
  return {
    rows: [
      row("all-objects", "xo.getAllObjects", ofPool),
      row("rest-list", "GET /rest/v0/vms?fields=*", ofPool),
      row("fan-out", "no throttle", { ...ofPool, throttleMs: 0 }),
      ...(smoke ? [] : [row("fan-out", "throttle of 250 ms", ofPool)]),
      row("messages", "one socket"),
      row("rights", "half of the objects", ofHalves),
      row("idle-sockets", `${scale.idleSockets} sockets`, {}),
    ],
    async stop() {
      await Promise.all([pool.stop(), halves.stop()]);
    },
  };
}

/** The name that `--only` selects. */
export function rowName({ section, mode }: ApiRow): string {
  return `${section} ${mode}`;
}

interface About {
  readonly simulator?: LazySimulator;
  readonly name?: string;
  readonly throttleMs?: number;
}

interface LazySimulator {
  get(): Promise<Simulator>;
  stop(): Promise<void>;
}

function lazySimulator(args: ApiScale["pool"]): LazySimulator {
  let started: Promise<Simulator> | undefined;
  return {
    get: () => (started ??= startSimulator(args)),
    async stop() {
      await (await started)?.stop();
    },
  };
}
