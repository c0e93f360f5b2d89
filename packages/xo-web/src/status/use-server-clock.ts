import {
  computed,
  inject,
  provide,
  type ComputedRef,
  type InjectionKey,
  type Ref,
} from "vue";
import type { StatusView } from "../api/status-stream.js";
import { useNow } from "../ui/use-now.js";

const key: InjectionKey<ComputedRef<number>> = Symbol("server clock");

/**
 * The server's time in ms since 1970, by the second. Taken from what it says of
 * itself, so that ages are right although the browser's clock may be wrong.
 */
export function provideServerClock(view: Readonly<Ref<StatusView>>): void {
  const now = useNow();
  const clock = computed(() => {
    const { status, receivedAt } = view.value;
    if (status === undefined) return Date.now();
    const { startedAt, uptimeS } = status.server;
    return Date.parse(startedAt) + uptimeS * 1000 + (now.value - receivedAt);
  });
  // By the second, so that a status that arrives in between redraws no ages.
  provide(
    key,
    computed(() => Math.floor(clock.value / 1000) * 1000),
  );
}

export function useServerClock(): ComputedRef<number> {
  const clock = inject(key);
  if (clock === undefined) throw new Error("no server clock was provided");
  return clock;
}
