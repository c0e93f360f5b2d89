import {
  computed,
  onBeforeUnmount,
  onMounted,
  shallowRef,
  type ComputedRef,
  type ShallowRef,
} from "vue";

/** Lines that are rendered before and after the visible ones: what is scrolled into view within a frame or two. */
const MARGIN = 5;

/** Scrolling has ended this long after the last movement, in ms. */
const SCROLL_END_MS = 150;

export interface Viewport {
  readonly first: ComputedRef<number>;
  readonly end: ComputedRef<number>;
  /** Fully visible lines. */
  readonly page: ComputedRef<number>;
  readonly width: ShallowRef<number>;
  /** Rendered lines: the visible ones and a margin. */
  readonly drawn: ComputedRef<{ readonly first: number; readonly end: number }>;
  /** The box has been scrolled just now. */
  readonly isScrolling: Readonly<ShallowRef<boolean>>;
  readonly scrolled: () => void;
  /** Moves as little as is needed to see the line. */
  readonly reveal: (line: number) => void;
  readonly toTop: () => void;
}

/**
 * The visible part of a long list of lines of one height in a scrolling box. Pixels.
 * @param covered by header and footer over the lines
 */
export function useViewport(
  box: Readonly<ShallowRef<HTMLElement | null>>,
  lines: () => { readonly count: number; readonly height: number },
  covered: () => { readonly head: number; readonly foot: number },
): Viewport {
  const top = shallowRef(0);
  const height = shallowRef(600);
  const width = shallowRef(1000);
  const scrolling = useScrolling();

  const first = computed(() => {
    const { count, height } = lines();
    return Math.min(Math.floor(top.value / height), Math.max(count - 1, 0));
  });
  const page = computed(() =>
    Math.max(Math.floor((height.value - covered().head) / lines().height), 1),
  );
  const end = computed(() =>
    Math.min(first.value + page.value + 2, lines().count),
  );
  /** Always the same number of lines, at any position of the box: their elements are reused. */
  const drawn = computed<{ first: number; end: number }>((before) => {
    const { count } = lines();
    const size = Math.min(page.value + 2 + 2 * MARGIN, count);
    const low = Math.min(first.value - MARGIN, count - size);
    const next = { first: Math.max(low, 0), end: Math.max(low, 0) + size };
    const isSame = before?.first === next.first && before.end === next.end;
    return isSame ? before : next;
  });

  const observer = new ResizeObserver(measure);
  function measure(): void {
    if (box.value === null) return;
    height.value = box.value.clientHeight;
    width.value = box.value.clientWidth;
    top.value = box.value.scrollTop;
  }
  onMounted(() => {
    measure();
    if (box.value !== null) observer.observe(box.value);
  });
  onBeforeUnmount(() => {
    observer.disconnect();
    scrolling.stop();
  });

  return {
    first,
    end,
    page,
    width,
    drawn,
    isScrolling: scrolling.isScrolling,
    scrolled() {
      top.value = box.value?.scrollTop ?? 0;
      scrolling.moved();
    },
    reveal(line) {
      const element = box.value;
      if (element === null) return;
      const { height } = lines();
      const { head, foot } = covered();
      const room = element.clientHeight - head - foot - height;
      const offset = line * height;
      if (offset < element.scrollTop) element.scrollTop = offset;
      else if (offset > element.scrollTop + room)
        element.scrollTop = offset - room;
      top.value = element.scrollTop;
    },
    toTop() {
      // Without need it would lay out the page before its changes are complete.
      if (box.value !== null && top.value > 0) box.value.scrollTop = 0;
      top.value = 0;
    },
  };
}

/** Whether there was a movement within SCROLL_END_MS. */
function useScrolling() {
  const isScrolling = shallowRef(false);
  let end: ReturnType<typeof setTimeout> | undefined;
  return {
    isScrolling,
    moved() {
      isScrolling.value = true;
      clearTimeout(end);
      end = setTimeout(() => {
        isScrolling.value = false;
      }, SCROLL_END_MS);
    },
    stop() {
      clearTimeout(end);
    },
  };
}
