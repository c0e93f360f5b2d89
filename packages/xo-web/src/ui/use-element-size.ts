import {
  onMounted,
  onUnmounted,
  shallowRef,
  type Ref,
  type ShallowRef,
} from "vue";

/** The size of an element in whole pixels, 0 before it is mounted. */
export function useElementSize(
  element: Readonly<Ref<HTMLElement | null>>,
): ShallowRef<{ width: number; height: number }> {
  const size = shallowRef({ width: 0, height: 0 });
  const observer = new ResizeObserver(([entry]) => {
    const { width = 0, height = 0 } = entry?.contentRect ?? {};
    size.value = { width: Math.floor(width), height: Math.floor(height) };
  });
  onMounted(() => {
    if (element.value !== null) observer.observe(element.value);
  });
  onUnmounted(() => {
    observer.disconnect();
  });
  return size;
}
