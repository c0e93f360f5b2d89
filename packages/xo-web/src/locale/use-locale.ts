import {
  computed,
  defineAsyncComponent,
  shallowRef,
  type App,
  type AsyncComponentLoader,
  type Component,
  type ComputedRef,
  type InjectionKey,
  type Ref,
} from "vue";
import { loadFiles } from "../browser/page-files.js";
import { readStored, writeStored } from "../browser/stored-value.js";
import { injectRequired } from "../injection.js";
import { initial } from "./en/initial.js";
import { Formats } from "./formats.js";
import {
  chooseLanguage,
  regionalLanguage,
  textFiles,
  type Language,
} from "./languages.js";
import type { InitialMessages, Messages } from "./messages.js";
import { TextLoader } from "./text-loader.js";

const storageKey = "language";

/** Texts and formats of the chosen language. */
interface Locale<Texts = Messages> {
  readonly text: ComputedRef<Texts>;
  readonly formats: ComputedRef<Formats>;
  readonly language: Readonly<Ref<Language>>;
  readonly setLanguage: (language: Language) => Promise<void>;
}

/** The locale of the initial view, which only has the texts of that. */
export interface InitialLocale extends Locale<InitialMessages> {
  /** Loads all texts, for what is opened next. Rejects without the server. */
  readonly loadAllTexts: () => Promise<void>;
  /**
   * Loads a module together with all texts: a page with its components, which use useLocale.
   * Waits while the server does not respond.
   */
  readonly withAllTexts: <T>(load: () => Promise<T>) => () => Promise<T>;
  /** Defines a component that is loaded together with all texts, when it is first rendered. */
  readonly lazyComponent: <T extends Component>(
    load: AsyncComponentLoader<T>,
  ) => T;
}

interface Locales {
  readonly initial: InitialLocale;
  readonly all: Locale;
}

const key: InjectionKey<Locales> = Symbol("locale");

/** Provides the stored language, or the language of the browser; before the page is mounted. */
export async function provideLocale(app: App): Promise<InitialLocale> {
  const language = shallowRef<Language>("en");
  // Replaced with the language only: the components of the initial view are not rendered again when all are loaded.
  const initialTexts = shallowRef<InitialMessages>(initial);
  const allTexts = shallowRef<Messages>();
  const loader = new TextLoader({
    files: textFiles,
    language: language.value,
    onLoaded(loaded) {
      if (loaded.language !== language.value)
        initialTexts.value = loaded.messages;
      if (loaded.isComplete) allTexts.value = loaded.messages;
      language.value = loaded.language;
      document.documentElement.lang = loaded.language;
    },
  });
  const common = {
    formats: computed(
      () =>
        new Formats(
          regionalLanguage(language.value, navigator.languages),
          initialTexts.value,
        ),
    ),
    language,
    async setLanguage(chosen: Language) {
      writeStored(storageKey, chosen);
      await loader.setLanguage(chosen);
    },
  };
  const withAllTexts: InitialLocale["withAllTexts"] = (load) => async () => {
    const [loaded] = await loadFiles(() =>
      Promise.all([load(), loader.loadAll()]),
    );
    return loaded;
  };
  const locale: InitialLocale = {
    ...common,
    text: computed(() => initialTexts.value),
    loadAllTexts: () => loader.loadAll(),
    withAllTexts,
    lazyComponent: (load) => defineAsyncComponent(withAllTexts(load)),
  };
  app.provide(key, {
    initial: locale,
    all: { ...common, text: computed(() => loadedTexts(allTexts.value)) },
  });
  const stored = readStored(storageKey);
  await loader.setLanguage(
    chooseLanguage([
      ...(stored === null ? [] : [stored]),
      ...navigator.languages,
    ]),
  );
  return locale;
}

function loadedTexts(texts: Messages | undefined): Messages {
  if (texts === undefined)
    throw new Error("a component was loaded without its texts");
  return texts;
}

/** All texts and the formats of the chosen language; not for the components of the initial view. */
export function useLocale(): Locale {
  return injectRequired(key).all;
}

/** The texts of the initial view and the formats of the chosen language. */
export function useInitialLocale(): InitialLocale {
  return injectRequired(key).initial;
}
