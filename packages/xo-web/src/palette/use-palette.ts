import { ref, type Ref } from "vue";

const isOpen = ref(false);

/** The command palette: one for the whole page. */
export function usePalette(): {
  readonly isOpen: Ref<boolean>;
  readonly open: () => void;
  readonly close: () => void;
} {
  return {
    isOpen,
    open() {
      isOpen.value = true;
    },
    close() {
      isOpen.value = false;
    },
  };
}
