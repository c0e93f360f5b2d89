import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import type { TSchema } from "typebox";
import { parse } from "yaml";
import { Config } from "../src/config/config.js";
import { toExampleConfig } from "../src/config/example-config.js";
import { loadConfig } from "../src/config/load-config.js";

const file = findUp(
  dirname(fileURLToPath(import.meta.url)),
  "config.yaml.example",
);
const example = readFileSync(file, "utf8");
/** With the commented-out entries of lists taken in. */
const full = example
  .replace(/^( *\w+): \[\]$(?=\n *#-)/gm, "$1:")
  .replace(/^( *)#(?=-| {2})/gm, "$1");

t.test("config.yaml.example equals the schema", async (t) => {
  t.equal(
    example,
    toExampleConfig(),
    "write it again: node bin/xo-server example-config > config.yaml.example",
  );
});

t.test("the example has every key of the schema, and no other", async (t) => {
  t.same(keysOf(parse(full)).toSorted(), schemaKeys(Config).toSorted());
});

t.test(
  "the example changes nothing: its values are the defaults",
  async (t) => {
    const home = t.testdir({ "config.yaml": example });
    const nowhere = { env: {}, cwd: t.testdirName, home };
    const load = (named: string) => loadConfig(named, {}, nowhere).config;
    const empty = t.testdir({ "config.yaml": example, "empty.yaml": "" });
    t.same(load(join(empty, "config.yaml")), load(join(empty, "empty.yaml")));
  },
);

t.test("every key has one comment", async (t) => {
  const lines = full.split("\n");
  const bare = lines.filter(
    (line, index) =>
      /^[\s-]*\w+:/.test(line) && !/^[\s-]*# \S/.test(lines[index - 1] ?? ""),
  );
  t.same(bare, []);
});

function keysOf(value: unknown, prefix = ""): string[] {
  if (Array.isArray(value))
    return value.flatMap((item) =>
      typeof item === "object" ? keysOf(item, prefix) : [],
    );
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    `${prefix}${key}`,
    ...keysOf(inner, `${prefix}${key}.`),
  ]);
}

function schemaKeys(schema: TSchema, prefix = ""): string[] {
  const { properties, items } = schema as {
    properties?: Record<string, TSchema>;
    items?: TSchema;
  };
  if (items !== undefined) return schemaKeys(items, prefix);
  return Object.entries(properties ?? {}).flatMap(([key, inner]) => [
    `${prefix}${key}`,
    ...schemaKeys(inner, `${prefix}${key}.`),
  ]);
}

function findUp(from: string, name: string): string {
  const path = join(from, name);
  return existsSync(path) ? path : findUp(dirname(from), name);
}
