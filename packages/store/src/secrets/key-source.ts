import { randomUUID } from "node:crypto";
import {
  link,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { dirname } from "node:path";
import { XoError } from "@xo-server/model";
import { Key } from "./key.js";

/**
 * Source of the keys: a file, created at the first start; a credential of the
 * service manager, a file that this process cannot write; or a text (from the
 * environment), with keys separated by commas. The first key encrypts; the others
 * only decrypt, during a rotation.
 */
export type KeyOptions =
  | { readonly file: string }
  | { readonly credential: string }
  | { readonly text: string };

export interface KeySource {
  /** For error messages. */
  readonly description: string;
  /**
   * @param mayCreate false if there are secrets already, which a new key could not decrypt
   * @throws XoError CONFIG_INVALID
   */
  load(mayCreate: boolean): Promise<Key[]>;
  /** @throws XoError UNSUPPORTED for a credential and a key of the environment */
  save(keys: readonly Key[]): Promise<void>;
}

/** Reads nothing yet: `load` does. */
export function createKeySource(options: KeyOptions): KeySource {
  if ("file" in options) return keyFile(options.file);
  if ("credential" in options) return keyCredential(options.credential);
  return keyText(options.text);
}

function keyText(text: string): KeySource {
  const description = "the key of the environment";
  return {
    description,
    load: async () => parseKeys(description, text.split(",")),
    save: () => notWritable("it comes from the environment"),
  };
}

function keyCredential(file: string): KeySource {
  const description = `the credential ${file}`;
  return {
    description,
    async load() {
      // systemd grants access by an ACL, which shows as a mode of 0440.
      const text = await readPrivate(file, 0o040);
      if (text === undefined) throw invalid(description, "it is missing");
      return parseKeys(description, text.split("\n"));
    },
    save: () => notWritable("it is a credential of the service manager"),
  };
}

function notWritable(reason: string): Promise<never> {
  return Promise.reject(
    new XoError("UNSUPPORTED", { what: "writing the key", reason }),
  );
}

function keyFile(file: string): KeySource {
  const description = `the key file ${file}`;
  const save = (keys: readonly Key[]) => replaceFile(file, keys);
  return {
    description,
    save,
    async load(mayCreate) {
      const text = await readPrivate(file);
      if (text !== undefined) return parseKeys(description, text.split("\n"));
      if (!mayCreate)
        throw invalid(
          description,
          "it is missing, and a new key could not decrypt the secrets in the database: restore the file, or copy it from another server of this database",
        );
      await createFile(file, [Key.random()]);
      // Another server may have created the file first: its key is used.
      const content = (await readPrivate(file)) ?? "";
      return parseKeys(description, content.split("\n"));
    },
  };
}

function parseKeys(description: string, words: readonly string[]): Key[] {
  const keys = words
    .map((word) => word.trim())
    .filter((word) => word !== "" && !word.startsWith("#"))
    .map((word) => {
      const key = Key.parse(word);
      // Without the text, which may be a key with a typing error.
      if (key === undefined)
        throw invalid(description, "a key is 32 bytes in base64");
      return key;
    });
  if (keys.length === 0) throw invalid(description, "it contains no key");
  return keys;
}

/** @param allowed bits of the mode that others may have */
async function readPrivate(
  file: string,
  allowed = 0,
): Promise<string | undefined> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077 & ~allowed) !== 0 && process.platform !== "win32")
      throw invalid(file, "other users can read it; it must have mode 0600");
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof XoError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw invalid(file, `it cannot be read (${code ?? "unknown"})`);
  }
}

async function createFile(file: string, keys: readonly Key[]): Promise<void> {
  const draft = await writeDraft(file, keys);
  // link(2) fails if another server has created the file; rename(2) would replace it.
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(draft, { force: true });
}

async function replaceFile(file: string, keys: readonly Key[]): Promise<void> {
  await rename(await writeDraft(file, keys), file);
}

async function writeDraft(file: string, keys: readonly Key[]): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(
      [
        "# Without this file the secrets in the store cannot be read. The first key encrypts.",
      ]
        .concat(keys.map((key) => key.text))
        .join("\n") + "\n",
    );
    await handle.sync();
  } finally {
    await handle.close();
  }
  return draft;
}

function invalid(where: string, reason: string): XoError {
  return new XoError("CONFIG_INVALID", { where, reason });
}
