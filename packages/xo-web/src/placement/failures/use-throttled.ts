import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";

/** A value that changes often, updated at an interval at most; the last value is not lost. */
export function useThrottled<T>(
  latest: () => T,
  everyMs: () => number,
): Readonly<ShallowRef<T>> {
  const shown = shallowRef(latest()) as ShallowRef<T>;
  let timer: ReturnType<typeof setTimeout> | undefined;
  watch(latest, () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      shown.value = latest();
    }, everyMs());
  });
  onScopeDispose(() => {
    clearTimeout(timer);
  });
  return shown;
}
