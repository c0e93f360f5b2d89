import t from "tap";
import { operations } from "../src/methods/all.js";
import { createCheck, createValidators } from "../src/operations/parameters.js";
import type { XoError } from "@xo-server/model";

interface Schema {
  readonly type?: string;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Paths of the lists without a bound. */
function unbounded(schema: Schema, path: string): string[] {
  const { type, maxItems, items, anyOf = [], allOf = [] } = schema;
  return [
    ...(type === "array" && maxItems === undefined ? [path] : []),
    ...(items === undefined ? [] : unbounded(items, `${path}[]`)),
    ...[...anyOf, ...allOf].flatMap((one) => unbounded(one, path)),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, one]) =>
      unbounded(one, `${path}.${key}`),
    ),
  ];
}

t.test("every list in parameters has a bound", async (t) => {
  const found = operations.flatMap(({ name, params }) =>
    unbounded(params as Schema, name),
  );
  t.same(found, []);
});

t.test("of many errors only the first is reported", async (t) => {
  const validators = createValidators();
  const check = createCheck(
    validators,
    operations.find(({ name }) => name === "bulk.run")!,
  );
  const errorsOf = (ids: readonly unknown[]): number => {
    try {
      check({ method: "vm.start", ids });
    } catch (error) {
      return ((error as XoError).data["errors"] as unknown[]).length;
    }
    return 0;
  };
  t.equal(errorsOf([1, 2, 3]), 3);
  t.equal(errorsOf(Array.from({ length: 100_000 }, (_, i) => i)), 1);
});

t.test("objects with any keys have a bound", async (t) => {
  const validators = createValidators();
  const check = createCheck(
    validators,
    operations.find(({ name }) => name === "sr.create")!,
  );
  const configOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
  const create = (count: number) =>
    check({
      host: "h",
      SR_type: "nfs",
      name_label: "n",
      device_config: configOf(count),
    });
  t.ok(create(1_000));
  t.throws(() => create(1_001), {
    code: "INVALID_PARAMETERS",
    message: /device_config .*1000/,
  });
  const checkToken = createCheck(
    validators,
    operations.find(({ name }) => name === "token.delete")!,
  );
  t.throws(() => checkToken({ pattern: configOf(1_001) }), {
    code: "INVALID_PARAMETERS",
  });
});
