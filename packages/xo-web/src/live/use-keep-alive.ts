import { monotonicClock } from "@xo-server/kit";
import { onScopeDispose } from "vue";
import { SpacedRuns } from "./spaced-runs.js";

/** A session that is not used for some minutes may end: its uses are reported this often, in ms. */
const INTERVAL_MS = 60_000;
const USES = ["pointerdown", "keydown", "wheel", "touchmove"] as const;

/**
 * Reports user input to the server until the scope ends; requests that the page
 * sends by itself do not extend the session.
 */
export function useKeepAlive(report: () => void): void {
  const reports = new SpacedRuns({
    clock: monotonicClock,
    everyMs: INTERVAL_MS,
    run: report,
  });
  const events = new AbortController();
  const options = { signal: events.signal, capture: true, passive: true };
  for (const use of USES)
    addEventListener(
      use,
      () => {
        reports.request();
      },
      options,
    );
  onScopeDispose(() => {
    events.abort();
    reports.stop();
  });
}
