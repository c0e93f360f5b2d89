import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";

/** What changes all the time, told at most so often; the last one is told in the end. */
export function useSlowly<T>(
  latest: () => T,
  everyMs: () => number,
): Readonly<ShallowRef<T>> {
  const told = shallowRef(latest()) as ShallowRef<T>;
  let timer: ReturnType<typeof setTimeout> | undefined;
  watch(latest, () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      told.value = latest();
    }, everyMs());
  });
  onScopeDispose(() => {
    clearTimeout(timer);
  });
  return told;
}
