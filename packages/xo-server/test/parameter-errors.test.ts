import t from "tap";
import { Type, type TSchema } from "typebox";
import { Condition } from "../src/alarms/alarm-rule.js";
import { createCheck, createValidators } from "../src/operations/parameters.js";

const validators = createValidators();

/** The reason for which parameters are refused. */
function reasonOf(params: Record<string, TSchema>, input: object): string {
  const check = createCheck(validators, {
    name: "test.method",
    params: Type.Object(params),
  });
  try {
    check(input);
    return "";
  } catch (error) {
    return (error as { data: { reason: string } }).data.reason;
  }
}

const mode = Type.Enum(["off", "dry-run", "automatic"]);

t.test("a name that contains the unknown one is meant", async (t) => {
  const parameters = {
    sr: Type.Optional(Type.String()),
    targetHost: Type.Optional(Type.String()),
  };
  t.equal(
    reasonOf(parameters, { host: "x" }),
    'unknown parameter "host"; did you mean "targetHost"?',
  );
});

t.test("an enumeration names the allowed values and the nearest", async (t) => {
  t.equal(
    reasonOf({ mode }, { mode: "automatik" }),
    'mode must be one of off, dry-run, automatic; did you mean "automatic"?',
  );
});

t.test("a wrong type names the expected and the actual type", async (t) => {
  const CPUs = Type.Integer({ maximum: 64 });
  t.equal(
    reasonOf({ CPUs }, { CPUs: "4" }),
    "CPUs must be an integer, not a string",
  );
  t.equal(reasonOf({ CPUs }, { CPUs: 65 }), "CPUs must be at most 64");
  const either = Type.Union([Type.Integer(), Type.Null()]);
  t.equal(
    reasonOf({ either }, { either: "x" }),
    "either must be an integer or null, not a string",
  );
});

t.test("a misspelled parameter is reported with the missing one", async (t) => {
  const params = { name_label: Type.String(), template: Type.String() };
  const reason = reasonOf(params, { nam_label: "x", template: "T" });
  t.match(reason, /name_label is missing/);
  t.match(reason, 'unknown parameter "nam_label"; did you mean "name_label"?');
});

t.test("of a union only the branch of its kind is reported", async (t) => {
  const on = { kind: "statistic", type: "VM", metric: "now.cpu" };
  t.equal(
    reasonOf({ on: Condition }, { on }),
    "on.comparison is missing; on.threshold is missing",
  );
  t.equal(
    reasonOf({ on: Condition }, { on: { ...on, kind: "statistics" } }),
    'on.kind must be one of statistic, object, message, task, pool; did you mean "statistic"?',
  );
  t.equal(
    reasonOf({ on: Condition }, { on: {} }),
    "on.kind must be one of statistic, object, message, task, pool",
  );
  t.equal(
    reasonOf(
      { list: Type.Array(Condition) },
      { list: [{ kind: "pool" }, { kind: "pool", typ: "VM" }] },
    ),
    'unknown parameter "typ" in list[1]; the nearest known parameter is "kind" (known parameters: kind)',
  );
});
