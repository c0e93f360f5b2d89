import t from "tap";
import { de } from "../src/locale/de/all.js";
import { initial as deInitial } from "../src/locale/de/initial.js";
import { en } from "../src/locale/en/all.js";
import { initial as enInitial } from "../src/locale/en/initial.js";
import type { Language, TextFiles } from "../src/locale/languages.js";
import { TextLoader, type LoadedTexts } from "../src/locale/text-loader.js";

/** Files that arrive when the test answers the request. */
function start() {
  const requests: { name: string; answer: (error?: Error) => void }[] = [];
  const loaded: LoadedTexts[] = [];
  const file =
    <T>(name: string, content: T) =>
    () =>
      new Promise<T>((resolve, reject) => {
        requests.push({
          name,
          answer: (error) => {
            if (error === undefined) resolve(content);
            else reject(error);
          },
        });
      });
  const files: Readonly<Record<Language, TextFiles>> = {
    en: { initial: file("en", enInitial), all: file("all en", en) },
    de: { initial: file("de", deInitial), all: file("all de", de) },
  };
  const loader = new TextLoader({
    files,
    language: "en",
    onLoaded: (texts) => loaded.push(texts),
  });
  /** Answers the next request. @returns its name */
  const answer = async (error?: Error) => {
    const request = requests.shift();
    request?.answer(error);
    await new Promise(setImmediate);
    return request?.name;
  };
  const shown = () =>
    loaded.map(({ language, isComplete }) =>
      isComplete ? `all ${language}` : language,
    );
  return { loader, answer, shown, requests };
}

t.test("texts of the initial view are loaded first, then all", async (t) => {
  const { loader, answer, shown } = start();
  const first = loader.setLanguage("de");
  t.equal(await answer(), "de");
  await first;
  const all = loader.loadAll();
  t.equal(await answer(), "all de");
  await all;
  t.same(shown(), ["de", "all de"]);
});

t.test("all texts are requested once", async (t) => {
  const { loader, answer, requests } = start();
  const all = loader.loadAll();
  await answer();
  await all;
  await loader.loadAll();
  t.equal(requests.length, 0);
});

t.test("after all texts, other languages have all of them", async (t) => {
  const { loader, answer, shown } = start();
  const all = loader.loadAll();
  await answer();
  await all;
  const changed = loader.setLanguage("de");
  t.equal(await answer(), "all de");
  await changed;
  t.same(shown(), ["all en", "all de"]);
});

t.test("a language chosen meanwhile is the one that is loaded", async (t) => {
  const { loader, answer, shown } = start();
  const all = loader.loadAll();
  const changed = loader.setLanguage("de");
  t.equal(await answer(), "all en");
  t.equal(await answer(), "all de");
  t.equal(await answer(), "all de");
  await Promise.all([all, changed]);
  t.same([...new Set(shown())], ["all de"]);
});

t.test(
  "a language is not shown without the texts requested meanwhile",
  async (t) => {
    const { loader, answer, shown } = start();
    const changed = loader.setLanguage("de");
    const all = loader.loadAll();
    t.equal(await answer(), "de");
    t.equal(await answer(), "all de");
    t.equal(await answer(), "all de");
    await Promise.all([all, changed]);
    t.same([...new Set(shown())], ["all de"]);
  },
);

t.test("without the server the language does not change", async (t) => {
  const { loader, answer, shown } = start();
  const changed = loader.setLanguage("de");
  await answer(new Error("no server"));
  await changed;
  const all = loader.loadAll();
  t.equal(await answer(), "all en");
  await all;
  t.same(shown(), ["all en"]);
});

t.test("a failure is reported, and the next attempt repeats it", async (t) => {
  const { loader, answer, shown } = start();
  const failing = loader.loadAll();
  const failed = t.rejects(failing, { message: "no server" });
  await answer(new Error("no server"));
  await failed;
  const all = loader.loadAll();
  t.equal(await answer(), "all en");
  await all;
  t.same(shown(), ["all en"]);
});
