import {
  onScopeDispose,
  provide,
  shallowRef,
  type InjectionKey,
  type Ref,
  type ShallowRef,
} from "vue";
import { fullServer, type Status } from "../api/status.js";
import type { StatusView } from "../api/status-feed.js";
import { injectRequired } from "../injection.js";
import { History } from "./history.js";

const seconds = 120;

interface Histories {
  /** Incremented with every sample: a component that reads it is rendered again. */
  readonly tick: Readonly<ShallowRef<number>>;
  readonly eventLoopP99Ms: History;
  readonly changesPerSecond: History;
  poolChanges(id: string): History;
}

const key: InjectionKey<Histories> = Symbol("histories");

/** Samples the status once a second and stores the last two minutes, in this page only. */
export function provideHistories(view: Readonly<Ref<StatusView>>): void {
  const tick = shallowRef(0);
  const eventLoopP99Ms = new History(seconds);
  const changesPerSecond = new History(seconds);
  const pools = new Map<string, History>();
  const poolChanges = (id: string): History => {
    const known = pools.get(id) ?? new History(seconds);
    pools.set(id, known);
    return known;
  };
  const timer = setInterval(() => {
    const { status, live } = view.value;
    if (status === undefined) return;
    const second = Math.floor(performance.now() / 1000);
    const at = (value: number): number | null => (live ? value : null);
    const server = fullServer(status);
    if (server !== undefined)
      eventLoopP99Ms.set(second, at(server.eventLoop.p99Ms));
    changesPerSecond.set(second, at(status.totals.changesPerSecond));
    for (const pool of Object.values(status.pools))
      poolChanges(pool.id).set(second, at(pool.changesPerSecond));
    forgetGone(pools, status);
    tick.value += 1;
  }, 1000);
  onScopeDispose(() => {
    clearInterval(timer);
  });
  provide(key, { tick, eventLoopP99Ms, changesPerSecond, poolChanges });
}

/** The histories that the page of the status provides. */
export function useHistories(): Histories {
  return injectRequired(key);
}

function forgetGone(pools: Map<string, History>, status: Status): void {
  for (const id of pools.keys())
    if (!Object.hasOwn(status.pools, id)) pools.delete(id);
}
