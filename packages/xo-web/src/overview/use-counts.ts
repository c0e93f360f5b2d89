import { onScopeDispose, shallowRef, type ShallowRef } from "vue";
import { isObject } from "@xo-server/kit";
import { useServer } from "../live/use-server.js";

const INTERVAL_MS = 5_000;

/** How many VMs there are; undefined: not known yet. */
export interface VmCounts {
  /** By power state. */
  readonly states: ReadonlyMap<string, number>;
  /** By pool: all VMs, and the running ones. */
  readonly all: ReadonlyMap<string, number>;
  readonly running: ReadonlyMap<string, number>;
}

/** Numbers of VMs, counted by the server every few seconds while the page is visible. */
export function useVmCounts(): ShallowRef<VmCounts | undefined> {
  const { call, whenOpen } = useServer();
  const counts = shallowRef<VmCounts>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function group(by: string, filter?: string) {
    const answer = await call("query.group", {
      type: "VM",
      by,
      ...(filter === undefined ? {} : { filter }),
    });
    const groups = Array.isArray(answer) ? answer.filter(isObject) : [];
    return new Map(
      groups.map(({ key, count }) => [
        typeof key === "string" ? key : "",
        Number(count),
      ]),
    );
  }

  async function load(): Promise<void> {
    clearTimeout(timer);
    if (!document.hidden) {
      const groups = await Promise.all([
        group("power_state"),
        group("$pool"),
        group("$pool", "power_state:/^Running$/"),
        // Without an answer the last counts stay.
      ]).catch(() => undefined);
      if (groups !== undefined) {
        const [states, all, running] = groups;
        counts.value = { states, all, running };
      }
    }
    clearTimeout(timer);
    timer = setTimeout(() => void load(), INTERVAL_MS);
  }

  whenOpen(() => void load());
  onScopeDispose(() => {
    clearTimeout(timer);
  });
  return counts;
}
