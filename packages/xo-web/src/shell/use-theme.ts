import { provide, readonly, ref, type InjectionKey, type Ref } from "vue";
import { readStored, writeStored } from "../browser/stored-value.js";
import { injectRequired } from "../injection.js";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

interface ThemeSetting {
  readonly theme: Readonly<Ref<Theme>>;
  readonly nextTheme: () => void;
  readonly setTheme: (theme: Theme) => void;
}

// public/early-theme.js reads the same key before the first paint.
const storageKey = "theme";
const key: InjectionKey<ThemeSetting> = Symbol("theme");

/** The theme of the page, stored in the browser; for the root component. */
export function provideTheme(): void {
  const stored = readStored(storageKey);
  const theme = ref<Theme>(themes.find((name) => name === stored) ?? "system");

  function setTheme(next: Theme): void {
    theme.value = next;
    const { dataset } = document.documentElement;
    if (next === "system") delete dataset["theme"];
    else dataset["theme"] = next;
    writeStored(storageKey, next === "system" ? null : next);
  }

  function nextTheme(): void {
    setTheme(themes[(themes.indexOf(theme.value) + 1) % themes.length]!);
  }

  provide(key, { theme: readonly(theme), nextTheme, setTheme });
}

/** For components below the one that called `provideTheme`. @throws Error in others */
export function useTheme(): ThemeSetting {
  return injectRequired(key);
}
