import type { Xapi } from "@xo-server/xen-api";
import type { Mirror, MirrorListener } from "./mirror.js";
import type { MirrorState } from "./pool-state.js";

/** Counts the objects of a pool. */
export function startCountingMirror(
  xapi: Xapi,
  listener: MirrorListener,
): Mirror {
  const ending = new AbortController();
  const counts: Record<string, number> = {};
  const mirror = {
    state: "waiting" as MirrorState,
    error: undefined as Error | undefined,
    counts,
    revision: 0,
    loadBytes: 0,
    async stop() {
      ending.abort();
      await running;
    },
  };
  const enter = (state: MirrorState) => {
    mirror.state = state;
    listener.onState();
  };
  const running = run();
  return mirror;

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        await follow();
      } catch (error) {
        mirror.error = error as Error;
        if (ending.signal.aborted) break;
        enter("backing-off");
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
    enter("stopped");
  }

  async function follow(): Promise<void> {
    await new Promise<void>((resolve) => {
      if (xapi.state.name === "connected" || ending.signal.aborted)
        return resolve();
      const off = xapi.onState((state) => {
        if (state.name !== "connected" && state.name !== "stopped") return;
        off();
        resolve();
      });
    });
    enter(mirror.revision > 0 ? "re-listing" : "listing");
    const token = await xapi.injectToken();
    mirror.loadBytes = 0;
    for (const name of await xapi.listableClasses()) {
      const { records, bytes } = await xapi.listRecords(name, {
        onBatch: () => undefined,
        signal: ending.signal,
      });
      counts[name] = records;
      mirror.loadBytes += bytes;
    }
    mirror.revision++;
    mirror.error = undefined;
    enter("watching");
    for await (const item of xapi.events({
      from: token,
      signal: ending.signal,
    })) {
      if (item.kind === "lost") return;
      const changed = item.batches.reduce((sum, { count }) => sum + count, 0);
      if (changed > 0) mirror.revision++;
      for (const [name, count] of item.validRefCounts)
        if (Object.hasOwn(counts, name)) counts[name] = count;
      listener.onChanges(changed);
    }
  }
}
