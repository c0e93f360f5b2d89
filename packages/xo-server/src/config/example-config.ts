import type { TSchema } from "typebox";
import { stringify } from "yaml";
import { Config } from "./config.js";

const HEAD = `# The config of xo-server: every key with its default.
# Looked for at --config, $XO_CONFIG, ./config.yaml, ~/.config/xo-server/config.yaml
# and /etc/xo-server/config.yaml; the first that exists counts. Leave out what you
# do not change. This file is printed by: xo-server example-config
`;

/** What the example needs of a schema; all of ours are written like this. */
interface Documented {
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: unknown;
  readonly properties?: Readonly<Record<string, Documented>>;
  readonly items?: Documented;
}

/**
 * config.yaml.example: the schema written out. Lines that start with `#` and no
 * space would be YAML if the `#` were taken away: an entry of a list that is
 * empty by default.
 */
export function toExampleConfig(schema: TSchema = Config): string {
  return `${HEAD}\n${toLines(schema).join("\n").trimStart()}\n`;
}

function toLines(group: Documented): string[] {
  return Object.entries(group.properties ?? {}).flatMap(([key, schema]) => {
    const comment = `# ${schema.description}`;
    if (schema.properties !== undefined)
      return ["", comment, `${key}:`, ...toLines(schema).map(indent)];
    if (schema.items?.properties !== undefined)
      return ["", comment, `${key}: []`, ...toEntry(schema.items)];
    return [comment, `${key}: ${toValue(schema)}`];
  });
}

/** One entry of a list, commented out. */
function toEntry(schema: Documented): string[] {
  const [first = "", ...rest] = toLines(schema).filter((line) => line !== "");
  return [`#- ${first}`, ...rest.map((line) => `#  ${line}`)];
}

function indent(line: string): string {
  return line === "" ? "" : `  ${line}`;
}

function toValue(schema: Documented): string {
  const examples = schema.examples as readonly unknown[] | undefined;
  const value = schema.default ?? examples?.[0];
  return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();
}
