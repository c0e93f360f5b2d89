import { ref, type Ref } from "vue";

const isOpen = ref(false);

/** The command palette: one for the whole page. */
export function usePalette(): { isOpen: Ref<boolean>; open(): void } {
  return {
    isOpen,
    open() {
      isOpen.value = true;
    },
  };
}
