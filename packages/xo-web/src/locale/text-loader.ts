import type { Language, TextFiles } from "./languages.js";
import type { InitialMessages, Messages } from "./messages.js";

/** The texts of a language: those of the initial view, or all. */
export type LoadedTexts = { readonly language: Language } & (
  | { readonly isComplete: false; readonly messages: InitialMessages }
  | { readonly isComplete: true; readonly messages: Messages }
);

interface TextLoaderOptions {
  readonly files: Readonly<Record<Language, TextFiles>>;
  /** Of the texts that the page has. */
  readonly language: Language;
  readonly onLoaded: (texts: LoadedTexts) => void;
}

/**
 * Loads texts: first those of the initial view, all from the first call of `loadAll` on. A language
 * is never reported with fewer texts than the one before.
 */
export class TextLoader {
  readonly #options: TextLoaderOptions;
  /** Of the texts that were loaded last. */
  #current: Language;
  #isComplete = false;
  #requested: Language;
  #needsAll = false;

  constructor(options: TextLoaderOptions) {
    this.#options = options;
    this.#current = this.#requested = options.language;
  }

  /** Loads another language; the previous one stays if that fails, without the server for example. */
  async setLanguage(language: Language): Promise<void> {
    this.#requested = language;
    try {
      await this.#load();
    } catch {
      this.#requested = this.#current;
    }
  }

  /** Loads all texts of the current language, now and of each later one. @throws Error if they cannot be loaded */
  async loadAll(): Promise<void> {
    this.#needsAll = true;
    if (!this.#isComplete) await this.#load();
  }

  /** Until what is loaded is what was requested last. */
  async #load(): Promise<void> {
    for (;;) {
      const language = this.#requested;
      const texts = await this.#read(language);
      if (language !== this.#requested) continue;
      if (this.#needsAll && !texts.isComplete) continue;
      this.#current = language;
      this.#isComplete = texts.isComplete;
      this.#options.onLoaded(texts);
      return;
    }
  }

  async #read(language: Language): Promise<LoadedTexts> {
    const files = this.#options.files[language];
    return this.#needsAll
      ? { language, isComplete: true, messages: await files.all() }
      : { language, isComplete: false, messages: await files.initial() };
  }
}
