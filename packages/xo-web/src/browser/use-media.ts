import { onScopeDispose, readonly, ref, type Ref } from "vue";

/** Whether a media query matches, such as `(width >= 100rem)`; follows the window. */
export function useMedia(query: string): Readonly<Ref<boolean>> {
  const media = matchMedia(query);
  const matches = ref(media.matches);
  const read = () => {
    matches.value = media.matches;
  };
  media.addEventListener("change", read);
  onScopeDispose(() => {
    media.removeEventListener("change", read);
  });
  return readonly(matches);
}
