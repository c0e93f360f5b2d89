import { readonly, ref, type Ref } from "vue";

const now = ref(performance.now());
let started = false;

/** The page's clock in milliseconds, moving once a second; for ages and countdowns. */
export function useNow(): Readonly<Ref<number>> {
  if (!started) {
    started = true;
    setInterval(() => {
      now.value = performance.now();
    }, 1000);
  }
  return readonly(now);
}
