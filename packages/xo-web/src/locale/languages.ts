import { en } from "./en/all.js";
import type { Messages } from "./messages.js";

/** The languages of the page, each named by itself. English is always loaded, the others on demand. */
export const languages = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof languages;

const loaders: Readonly<Record<Language, () => Promise<Messages>>> = {
  en: () => Promise.resolve(en),
  de: async () => (await import("./de/all.js")).de,
};

/** Loads the texts of a language; each is a file of its own. */
export function loadMessages(language: Language): Promise<Messages> {
  return loaders[language]();
}

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
  wanted: readonly string[],
): string {
  return wanted.find((one) => one.split("-", 1)[0] === language) ?? language;
}
