import { onScopeDispose, readonly, ref, type Ref } from "vue";

/** Monotonic time in ms, updated every second until the scope ends; for ages and countdowns. */
export function useNow(): Readonly<Ref<number>> {
  const now = ref(performance.now());
  const timer = setInterval(() => {
    now.value = performance.now();
  }, 1000);
  onScopeDispose(() => {
    clearInterval(timer);
  });
  return readonly(now);
}
