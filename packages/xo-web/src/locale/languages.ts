import { initial } from "./en/initial.js";
import type { InitialMessages, Messages } from "./messages.js";

/** The languages of the page, each named by itself. */
export const languages = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof languages;

/** Loads the texts of a language. */
export interface TextFiles {
  /** The texts of the initial view, in a small file. */
  readonly initial: () => Promise<InitialMessages>;
  readonly all: () => Promise<Messages>;
}

/** Texts of the initial view are loaded with the page in English, all others on demand. */
export const textFiles: Readonly<Record<Language, TextFiles>> = {
  en: {
    initial: () => Promise.resolve(initial),
    all: async () => (await import("./en/all.js")).en,
  },
  de: {
    initial: async () => (await import("./de/initial.js")).initial,
    all: async () => (await import("./de/all.js")).de,
  },
};

/** The first supported language of the preferred ones; `de-AT` is `de`. Default: English. */
export function chooseLanguage(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const language = tag.toLowerCase().split("-")[0] ?? "";
    if (Object.hasOwn(languages, language)) return language as Language;
  }
  return "en";
}

/** The language with the region of the browser, such as en-GB: dates and times follow it. */
export function regionalLanguage(
  language: Language,
  preferred: readonly string[],
): string {
  return preferred.find((one) => one.split("-", 1)[0] === language) ?? language;
}
