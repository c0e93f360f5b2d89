import {
  nextTick,
  onMounted,
  onUnmounted,
  shallowRef,
  watch,
  type ShallowRef,
} from "vue";
import { useTheme } from "../shell/use-theme.js";

/**
 * Colours of the theme in a form for canvases, by the names of their variables;
 * updated when the theme changes. Empty before the component is mounted.
 */
export function useColours(
  names: readonly string[],
): ShallowRef<ReadonlyMap<string, string>> {
  const colours = shallowRef<ReadonlyMap<string, string>>(new Map());
  const { theme } = useTheme();
  const media = matchMedia("(prefers-color-scheme: dark)");
  const read = () => {
    colours.value = readColours(names);
  };
  onMounted(() => {
    read();
    media.addEventListener("change", read);
  });
  onUnmounted(() => {
    media.removeEventListener("change", read);
  });
  watch(theme, () => void nextTick(read));
  return colours;
}

/** `light-dark()` is resolved only in the computed colour of an element. */
function readColours(names: readonly string[]): ReadonlyMap<string, string> {
  const probe = document.createElement("span");
  // Else all colors are that of the text in high contrast.
  probe.style.setProperty("forced-color-adjust", "none");
  document.body.append(probe);
  const colours = new Map(
    names.map((name) => {
      probe.style.color = `var(${name})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  return colours;
}
