import { partsOf, type SshKey } from "../session/ssh-keys.js";

const HEADER = "#cloud-config";
const LIST = "ssh_authorized_keys:";

/** Whether a key can be added to a configuration: scripts have no list of keys. */
export function takesKeys(config: string): boolean {
  return config.trim() === "" || config.startsWith(HEADER);
}

/** Whether the configuration contains the key; its comment does not matter. */
export function hasKey(config: string, key: Pick<SshKey, "key">): boolean {
  return config.includes(bareKey(key));
}

/** The configuration with the key in its list `ssh_authorized_keys`. */
export function addKey(config: string, key: Pick<SshKey, "key">): string {
  if (hasKey(config, key) || !takesKeys(config)) return config;
  const text = config.trim() === "" ? `${HEADER}\n` : config;
  const lines = text.replace(/\n+$/, "").split("\n");
  const at = lines.findIndex((line) =>
    /^ssh_authorized_keys:[ \t]*(\[[ \t]*\])?[ \t]*(#.*)?$/.test(line),
  );
  if (at < 0) return [...lines, LIST, itemOf(key, "  "), ""].join("\n");
  const indent = /^([ \t]*)- /.exec(lines[at + 1] ?? "")?.[1] ?? "  ";
  lines.splice(at, 1, LIST, itemOf(key, indent));
  return `${lines.join("\n")}\n`;
}

/** Removes a key; the list is removed with its last key, and a configuration without content. */
export function removeKey(config: string, key: Pick<SshKey, "key">): string {
  const kept = config
    .split("\n")
    .filter((line) => !(/^[ \t]*- /.test(line) && line.includes(bareKey(key))));
  const lines = kept.filter(
    (line, index) =>
      line.trim() !== LIST || /^[ \t]*- /.test(kept[index + 1] ?? ""),
  );
  const text = lines.join("\n");
  return text.trim() === HEADER ? "" : text;
}

/** Type and key without the comment, which the user may have changed. */
function bareKey(key: Pick<SshKey, "key">): string {
  const { type, encoded } = partsOf(key);
  return `${type} ${encoded}`;
}

/** Comments may contain what YAML gives a meaning: they are quoted. JSON is valid YAML. */
function itemOf({ key }: Pick<SshKey, "key">, indent: string): string {
  const isPlain = /^[\w@.+/= -]+$/.test(key);
  return `${indent}- ${isPlain ? key : JSON.stringify(key)}`;
}
