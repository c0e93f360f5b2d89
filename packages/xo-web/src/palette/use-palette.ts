import { provide, ref, type InjectionKey, type Ref } from "vue";
import { injectRequired } from "../injection.js";

interface Palette {
  readonly isOpen: Ref<boolean>;
  readonly open: () => void;
  readonly close: () => void;
}

const key: InjectionKey<Palette> = Symbol("palette");

/** The command palette of the page; for the frame of the page. */
export function providePalette(): Palette {
  const isOpen = ref(false);
  const palette = {
    isOpen,
    open() {
      isOpen.value = true;
    },
    close() {
      isOpen.value = false;
    },
  };
  provide(key, palette);
  return palette;
}

/** For components below the one that called `providePalette`. @throws Error in others */
export function usePalette(): Palette {
  return injectRequired(key);
}
