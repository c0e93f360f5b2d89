import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import type { StatsSet } from "./metrics.js";
import { pointsOf, type Granularity } from "./stat-range.js";
import { toStatsAnswer } from "./stats-answer.js";
import { StatsTrack } from "./stats-track.js";

export type StatsType = "VM" | "host" | "pool" | "SR";

/** Operation and parameter by type of object. */
const methods: Readonly<Record<StatsType, readonly [string, string]>> = {
  VM: ["vm.stats", "id"],
  host: ["host.stats", "host"],
  pool: ["pool.stats", "id"],
  SR: ["sr.stats", "id"],
};

export interface StatsRequest {
  readonly type: StatsType;
  readonly id: string;
  readonly granularity: Granularity;
}

/** Requests the statistics of one object at one granularity: first all, then new points. */
export class StatsSource {
  readonly #request: StatsRequest;
  readonly #call: Call;
  readonly #tracks = new Map<string, StatsTrack>();
  /** Errors of hosts without statistics, by host. */
  readonly #errors = new Map<string, string>();

  constructor(request: StatsRequest, call: Call) {
    this.#request = request;
    this.#call = call;
  }

  /** Why a host has no statistics, by host. */
  get errors(): ReadonlyMap<string, string> {
    return this.#errors;
  }

  /** @throws (rejects) the error of the call */
  async refresh(): Promise<StatsSet> {
    const { type, id, granularity } = this.#request;
    const [method, key] = methods[type];
    const start = this.#start();
    const received = await this.#call(method, {
      [key]: id,
      granularity,
      ...(start === undefined ? {} : { start }),
    });
    this.#errors.clear();
    if (type === "VM" || type === "host") this.#add(id, received);
    else if (isObject(received))
      for (const [host, stats] of Object.entries(received))
        this.#add(host, stats);
    return this.#set();
  }

  #add(id: string, received: Json): void {
    const answer = toStatsAnswer(received);
    if (answer === undefined) {
      const error = isObject(received) ? received["error"] : undefined;
      const reason = isObject(error) ? error["message"] : undefined;
      if (typeof reason === "string") this.#errors.set(id, reason);
      return;
    }
    const track =
      this.#tracks.get(id) ??
      new StatsTrack(pointsOf(this.#request.granularity));
    this.#tracks.set(id, track);
    track.take(answer);
  }

  /** Time in s up to which all tracks have points. */
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
