import {
  computed,
  shallowRef,
  type App,
  type ComputedRef,
  type InjectionKey,
  type Ref,
} from "vue";
import { readStored, writeStored } from "../browser/stored-value.js";
import { injectRequired } from "../injection.js";
import { en } from "./en/all.js";
import { Formats } from "./formats.js";
import {
  chooseLanguage,
  loadMessages,
  regionalLanguage,
  type Language,
} from "./languages.js";
import type { Messages } from "./messages.js";

const storageKey = "language";

export interface Locale {
  readonly text: ComputedRef<Messages>;
  readonly formats: ComputedRef<Formats>;
  readonly language: Readonly<Ref<Language>>;
  readonly setLanguage: (language: Language) => Promise<void>;
}

const key: InjectionKey<Locale> = Symbol("locale");

/** Provides the stored language, or the language of the browser; before the page is mounted. */
export async function provideLocale(app: App): Promise<void> {
  const current = shallowRef<{ language: Language; messages: Messages }>({
    language: "en",
    messages: en,
  });

  async function load(language: Language): Promise<void> {
    try {
      current.value = { language, messages: await loadMessages(language) };
    } catch {
      // The messages cannot be loaded without the server: the language stays.
    }
    document.documentElement.lang = current.value.language;
  }

  app.provide(key, {
    text: computed(() => current.value.messages),
    formats: computed(
      () =>
        new Formats(
          regionalLanguage(current.value.language, navigator.languages),
          current.value.messages,
        ),
    ),
    language: computed(() => current.value.language),
    async setLanguage(language) {
      writeStored(storageKey, language);
      await load(language);
    },
  });
  const stored = readStored(storageKey);
  await load(
    chooseLanguage([
      ...(stored === null ? [] : [stored]),
      ...navigator.languages,
    ]),
  );
}

/** The texts and formats of the chosen language. */
export function useLocale(): Locale {
  return injectRequired(key);
}
