import { computed, shallowRef, type ComputedRef, type Ref } from "vue";
import { en } from "./en.js";
import { Formats } from "./formats.js";
import { chooseLanguage, loadMessages, type Language } from "./languages.js";
import type { Messages } from "./messages.js";
import { recall, remember } from "../ui/browser-memory.js";

const key = "language";
const current = shallowRef<{ language: Language; messages: Messages }>({
  language: "en",
  messages: en,
});

const text = computed(() => current.value.messages);
const formats = computed(
  () => new Formats(current.value.language, current.value.messages),
);
const language = computed(() => current.value.language);

export interface Locale {
  text: ComputedRef<Messages>;
  formats: ComputedRef<Formats>;
  language: Readonly<Ref<Language>>;
  setLanguage(language: Language): Promise<void>;
}

/** The texts and formats of the chosen language; one choice for the whole page. */
export function useLocale(): Locale {
  return { text, formats, language, setLanguage };
}

/** Before the page is mounted: the remembered language, or the browser's. */
export async function initialLanguage(): Promise<void> {
  const remembered = recall(key);
  await show(
    chooseLanguage([
      ...(remembered === null ? [] : [remembered]),
      ...navigator.languages,
    ]),
  );
}

async function setLanguage(chosen: Language): Promise<void> {
  remember(key, chosen);
  await show(chosen);
}

async function show(chosen: Language): Promise<void> {
  try {
    current.value = { language: chosen, messages: await loadMessages(chosen) };
  } catch {
    // The file could not be fetched, as when the server is gone: the texts stay as they are.
  }
  document.documentElement.lang = current.value.language;
}
