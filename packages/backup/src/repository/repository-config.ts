import { RepositoryError } from "../errors.js";
import type { RepositoryKey } from "../keys/derived-keys.js";
import { readCopied } from "../storage/copied-file.js";
import type { Storage } from "../storage/storage.js";

export const CONFIG_FILE = "repository.json";

/** `repository.json`: what is known before a key is. */
export interface RepositoryConfig {
  readonly format: "xo-backup-repository";
  readonly version: 1;
  /** A UUID. */
  readonly id: string;
  /** ISO 8601. */
  readonly created: string;
  /** Whether parity files are written. */
  readonly parity: boolean;
  /** MAC of the other fields. */
  readonly mac: string;
}

/** The configuration of a new repository, with its MAC. */
export function createConfig(
  key: RepositoryKey,
  fields: Pick<RepositoryConfig, "id" | "created" | "parity">,
): RepositoryConfig {
  const config = {
    format: "xo-backup-repository",
    version: 1,
    id: fields.id,
    created: fields.created,
    parity: fields.parity,
  } as const;
  return { ...config, mac: key.mac(authenticatedText(config)) };
}

/** The bytes of `repository.json`, indented for readers. */
export function encodeConfig(config: RepositoryConfig): Buffer {
  return Buffer.from(`${JSON.stringify(config, undefined, 2)}\n`, "utf8");
}

/** @throws RepositoryError `unsupported` if this is not a repository of this version */
export function parseConfig(bytes: Buffer): RepositoryConfig {
  let config: Partial<RepositoryConfig> | null;
  try {
    config = JSON.parse(
      bytes.toString("utf8"),
    ) as Partial<RepositoryConfig> | null;
  } catch (cause) {
    throw unsupported("it is not JSON", cause);
  }
  if (config?.format !== "xo-backup-repository")
    throw unsupported("it is of another program");
  if (config.version !== 1)
    throw unsupported(`its version is ${String(config.version)}, not 1`);
  return config as RepositoryConfig;
}

/** The configuration before a key is known: not authenticated. */
export function readConfig(storage: Storage): Promise<RepositoryConfig> {
  return readCopied(storage, CONFIG_FILE, parseConfig);
}

/** The configuration that the key confirms. @throws RepositoryError `wrong-key` */
export function readConfirmedConfig(
  storage: Storage,
  key: RepositoryKey,
): Promise<RepositoryConfig> {
  return readCopied(storage, CONFIG_FILE, (bytes) =>
    confirmConfig(key, parseConfig(bytes)),
  );
}

/** @throws RepositoryError `wrong-key` unless the MAC is of these fields and this key */
export function confirmConfig(
  key: RepositoryKey,
  config: RepositoryConfig,
): RepositoryConfig {
  if (key.mac(authenticatedText(config)) !== config.mac)
    throw new RepositoryError(
      "wrong-key",
      `${CONFIG_FILE} was changed, or the key is of another repository`,
    );
  return config;
}

function authenticatedText(config: Omit<RepositoryConfig, "mac">): string {
  const { format, version, id, created, parity } = config;
  return [format, version, id, created, parity].join("\n");
}

function unsupported(reason: string, cause?: unknown): RepositoryError {
  return new RepositoryError(
    "unsupported",
    `${CONFIG_FILE} cannot be used: ${reason}`,
    { cause },
  );
}
