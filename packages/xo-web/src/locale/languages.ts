import { en } from "./en.js";
import type { Messages } from "./messages.js";

/** The languages of the page, each named by itself. English is always loaded, the others on demand. */
export const languages = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof languages;

const loaders: Readonly<Record<Language, () => Promise<Messages>>> = {
  en: () => Promise.resolve(en),
  de: async () => (await import("./de.js")).de,
};

export function loadMessages(language: Language): Promise<Messages> {
  return loaders[language]();
}

/** The first of the wanted languages that there is; `de-AT` finds `de`. */
export function chooseLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const language = tag.toLowerCase().split("-")[0] ?? "";
    if (Object.hasOwn(languages, language)) return language as Language;
  }
  return "en";
}
