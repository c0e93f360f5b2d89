import { computed, ref, watch, type ComputedRef, type Ref } from "vue";

/** The visible lines of a scrolling list with lines of equal height. */
interface ScrollRange {
  readonly first: ComputedRef<number>;
  /** Index after the last visible line. */
  readonly end: ComputedRef<number>;
  readonly onScroll: () => void;
  /** Scrolls as little as is needed. */
  readonly show: (line: number) => void;
}

/** The visible lines of a list of equal heights. @param height of a line, in px */
export function useScrollRange(
  box: Readonly<Ref<HTMLElement | null>>,
  { height, length }: { height: number; length: () => number },
): ScrollRange {
  const top = ref(0);
  const size = ref(0);
  watch(
    box,
    (element, _before, onCleanup) => {
      if (element === null) return;
      const observer = new ResizeObserver(() => {
        size.value = element.clientHeight;
        top.value = element.scrollTop;
      });
      observer.observe(element);
      onCleanup(() => {
        observer.disconnect();
      });
    },
    { immediate: true },
  );
  return {
    first: computed(() =>
      Math.min(Math.floor(top.value / height), Math.max(length() - 1, 0)),
    ),
    end: computed(() =>
      Math.min(Math.ceil((top.value + size.value) / height), length()),
    ),
    onScroll() {
      top.value = box.value?.scrollTop ?? 0;
    },
    show(line) {
      const element = box.value;
      if (element === null) return;
      const at = line * height;
      const above = at - height;
      const below = at + 2 * height - element.clientHeight;
      if (element.scrollTop > above) element.scrollTop = Math.max(above, 0);
      else if (element.scrollTop < below) element.scrollTop = below;
    },
  };
}
