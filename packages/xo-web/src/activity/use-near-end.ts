import { onScopeDispose, ref, watch, type Ref } from "vue";

/** Calls back when an element at the end of a list comes near the viewport. */
export function useNearEnd(reached: () => void): Ref<HTMLElement | undefined> {
  const element = ref<HTMLElement>();
  const observer = new IntersectionObserver(
    (seen) => {
      if (seen.some(({ isIntersecting }) => isIntersecting)) reached();
    },
    { rootMargin: "600px" },
  );
  watch(element, (now, before) => {
    if (before) observer.unobserve(before);
    if (now) observer.observe(now);
  });
  onScopeDispose(() => {
    observer.disconnect();
  });
  return element;
}
