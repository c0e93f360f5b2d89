import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import type { StatsSet } from "./metrics.js";
import { pointsOf, type Granularity } from "./stat-range.js";
import { toStatsAnswer } from "./stats-answer.js";
import { StatsTrack } from "./stats-track.js";

export type StatsType = "VM" | "host" | "pool" | "SR";

/** What the server's operation is called, and what it calls the object. */
const methods: Readonly<Record<StatsType, readonly [string, string]>> = {
  VM: ["vm.stats", "id"],
  host: ["host.stats", "host"],
  pool: ["pool.stats", "id"],
  SR: ["sr.stats", "id"],
};

export interface StatsWish {
  readonly type: StatsType;
  readonly id: string;
  readonly granularity: Granularity;
}

/** Asks for the statistics of one object at one granularity: first for all, then for what is new. */
export class StatsSource {
  readonly #wish: StatsWish;
  readonly #call: Call;
  readonly #tracks = new Map<string, StatsTrack>();
  /** What hosts said who told nothing, by host. */
  readonly #errors = new Map<string, string>();

  constructor(wish: StatsWish, call: Call) {
    this.#wish = wish;
    this.#call = call;
  }

  /** By host: why it tells nothing. */
  get errors(): ReadonlyMap<string, string> {
    return this.#errors;
  }

  /** @throws (rejects) what the call does */
  async refresh(): Promise<StatsSet> {
    const { type, id, granularity } = this.#wish;
    const [method, key] = methods[type];
    const start = this.#start();
    const told = await this.#call(method, {
      [key]: id,
      granularity,
      ...(start === undefined ? {} : { start }),
    });
    this.#errors.clear();
    if (type === "VM" || type === "host") this.#take(id, told);
    else if (isObject(told))
      for (const [host, stats] of Object.entries(told)) this.#take(host, stats);
    return this.#set();
  }

  #take(id: string, told: Json): void {
    const answer = toStatsAnswer(told);
    if (answer === undefined) {
      const error = isObject(told) ? told["error"] : undefined;
      const reason = isObject(error) ? error["message"] : undefined;
      if (typeof reason === "string") this.#errors.set(id, reason);
      return;
    }
    const track =
      this.#tracks.get(id) ?? new StatsTrack(pointsOf[this.#wish.granularity]);
    this.#tracks.set(id, track);
    track.take(answer);
  }

  /** Everything up to here is known of all. */
  #start(): number | undefined {
    const ends = [...this.#tracks.values()].map(({ end }) => end);
    return ends.length === 0 ? undefined : Math.min(...ends);
  }

  #set(): StatsSet {
    const all = [...this.#tracks.values()];
    return {
      tracks: this.#tracks,
      end: Math.max(0, ...all.map(({ end }) => end)),
      step: all[0]?.step ?? 0,
      length: Math.max(0, ...all.map(({ length }) => length)),
    };
  }
}
