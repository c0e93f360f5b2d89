import { computed, type Ref } from "vue";
import type { StatusView } from "../api/status-feed.js";
import { fullServer } from "../api/status.js";
import { provideClock } from "../ui/use-clock.js";
import { useNow } from "../ui/use-now.js";

/**
 * Provides the time of the server, in ms since the epoch and by the second. It is taken
 * from the status, so that ages are right if the clock of the browser is wrong.
 */
export function provideServerClock(view: Readonly<Ref<StatusView>>): void {
  const now = useNow();
  const clock = computed(() => {
    const { status, receivedAt } = view.value;
    const server = fullServer(status);
    if (server === undefined) return Date.now();
    const { startedAt, uptimeS } = server;
    return Date.parse(startedAt) + uptimeS * 1000 + (now.value - receivedAt);
  });
  // Updated once a second: a status that arrives in between does not render all ages again.
  provideClock(computed(() => Math.floor(clock.value / 1000) * 1000));
}
