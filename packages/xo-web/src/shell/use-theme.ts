import { readonly, ref, type Ref } from "vue";
import { recall, remember } from "../ui/browser-memory.js";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

// public/early-theme.js reads the same key before the first paint.
const key = "theme";
const theme = ref<Theme>(
  themes.find((name) => name === recall(key)) ?? "system",
);

/** The colours of the page: the system's, or the chosen ones, remembered in this browser. */
export function useTheme(): {
  theme: Readonly<Ref<Theme>>;
  nextTheme: () => void;
  setTheme: (theme: Theme) => void;
} {
  return { theme: readonly(theme), nextTheme, setTheme };
}

function nextTheme(): void {
  setTheme(themes[(themes.indexOf(theme.value) + 1) % themes.length]!);
}

function setTheme(next: Theme): void {
  theme.value = next;
  const { dataset } = document.documentElement;
  if (theme.value === "system") delete dataset["theme"];
  else dataset["theme"] = theme.value;
  remember(key, theme.value === "system" ? null : theme.value);
}
