import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import type { ViewObject } from "../src/views/view.js";
import { buildAll } from "./fixtures/record-links.js";
import { samplePool } from "./fixtures/sample-pool.js";

/**
 * Objects that a real xo-server gave over a stand-in XAPI. Its records were
 * not kept: the sample pool has records that fit, so fields and the kinds of
 * their values are compared, not the values.
 */
const observed = join(
  dirname(findRoot(dirname(fileURLToPath(import.meta.url)))),
  "shared",
  "contract",
  "observed",
  "getAllObjects.json",
);

/** Maps whose keys are free: only the kind of their values is compared. */
const freeMaps = new Set([
  "CPUs",
  "addresses",
  "other",
  "otherConfig",
  "other_config",
  "device_config",
  "license_params",
  "bios_strings",
]);

/** Where we differ, and why. */
const accepted: Readonly<Record<string, string>> = {
  "VM.vulnerabilities":
    "its rule is not documented, and a wrong all-clear is worse than none",
  "VM.installTime": "null there when XAPI has no time: absent here",
  "VM.startTime": "null there when XAPI has no time: absent here",
  ...Object.fromEntries(
    ["VM", "VM-controller", "VM-snapshot", "VM-template", "host"].map(
      (type) => [
        `${type}.pendingGuidances`,
        "what updates still need is not shown there",
      ],
    ),
  ),
  "SM.features": "the fake server sent strings: integers here",
};

const skip = existsSync(observed)
  ? false
  : "no observed objects beside this repository (../shared/contract)";

t.test(
  "objects have the fields that a real server gave",
  { skip },
  async (t) => {
    const { result } = JSON.parse(readFileSync(observed, "utf8")) as {
      result: Readonly<Record<string, ViewObject>>;
    };
    const real = Object.values(result);
    const theirs = shapes(real);
    const ours = shapes(buildAll(samplePool));
    t.same(
      [...ours.keys()].sort(),
      [...theirs.keys()].sort(),
      "the same types",
    );
    const differences = new Set<string>();
    for (const [type, fields] of theirs) {
      const own = ours.get(type) ?? new Map<string, string>();
      for (const field of new Set([...fields.keys(), ...own.keys()]))
        if (fields.get(field) !== own.get(field))
          differences.add(
            `${type}.${field}: ${fields.get(field)} there, ${own.get(field)} here`,
          );
    }
    const unexpected = [...differences].filter(
      (difference) => !Object.hasOwn(accepted, difference.split(":")[0]!),
    );
    t.same(unexpected, []);
    const names = new Set([...differences].map((name) => name.split(":")[0]!));
    t.same(
      [...names].sort(),
      Object.keys(accepted).sort(),
      "all are explained",
    );
  },
);

/** By type: each field and the shapes that its values take, over all objects of the type. */
function shapes(
  objects: readonly ViewObject[],
): Map<string, ReadonlyMap<string, string>> {
  const byType = new Map<string, Map<string, Set<string>>>();
  for (const object of objects) {
    const type = String(object.type);
    const fields = byType.get(type) ?? new Map<string, Set<string>>();
    byType.set(type, fields);
    for (const [field, value] of Object.entries(object))
      fields.set(
        field,
        (fields.get(field) ?? new Set()).add(shapeOf(field, value)),
      );
  }
  return new Map(
    [...byType].map(([type, fields]) => [
      type,
      new Map([...fields].map(([field, kinds]) => [field, mergedShape(kinds)])),
    ]),
  );
}

/** An empty list or map says nothing about what is in it. */
function mergedShape(kinds: ReadonlySet<string>): string {
  const full = [...kinds].filter(
    (kind) =>
      !["list", "map"].some((empty) => kind === empty && kinds.size > 1),
  );
  return full.sort().join("|");
}

function shapeOf(field: string, value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) {
    const kinds = new Set(value.map((item) => shapeOf("", item)));
    return kinds.size === 0 ? "list" : `list of ${[...kinds].join("|")}`;
  }
  if (typeof value === "number")
    return Number.isInteger(value) ? "integer" : "number";
  if (typeof value !== "object") return typeof value;
  const members = Object.entries(value);
  if (members.length === 0) return "map";
  if (freeMaps.has(field)) {
    const kinds = new Set(members.map(([, member]) => shapeOf("", member)));
    return `map of ${[...kinds].sort().join("|")}`;
  }
  const parts = members.map(
    ([key, member]) => `${key}:${shapeOf(key, member)}`,
  );
  return `{${parts.sort().join(",")}}`;
}

function findRoot(from: string): string {
  let folder = from;
  while (!existsSync(join(folder, "package-lock.json")))
    folder = dirname(folder);
  return folder;
}
