import t from "tap";
import { ApiSession, type Answer } from "./api-session.js";
import { fillSchema, nestedValues, type Schema } from "./schema-values.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=600000");

interface MethodInfo {
  readonly permission?: string;
  readonly params: Readonly<Record<string, Schema & { optional?: boolean }>>;
}

/** A text in all objects that the callers have no right on. */
const CANARY = "canary-of-others";

/** These end the session of the caller. */
const SKIPPED = new Set(["session.signOut"]);

/** Types of objects of other users that parameters refer to. */
const TYPES = [
  "VM",
  "VM-snapshot",
  "VM-template",
  "VDI",
  "SR",
  "network",
  "host",
  "pool",
  "VIF",
  "VBD",
  "PIF",
  "PBD",
];

/** Classes whose records must stay as they are. */
const CLASSES = [
  "VM",
  "VDI",
  "SR",
  "network",
  "host",
  "pool",
  "VIF",
  "VBD",
  "PIF",
  "PBD",
];

/** Calls of one session that wait for an answer. */
const AT_ONCE = 16;

const isString = ({ type, anyOf, items }: Schema): boolean =>
  type === "string" ||
  (anyOf ?? []).some(isString) ||
  (items !== undefined && isString(items));

/** Names of parameters that may be ids. */
const idParams = ({ params }: MethodInfo) =>
  Object.keys(params).filter(
    (name) => isString(params[name]!) && params[name]!.enum === undefined,
  );
const required = ({ params }: MethodInfo, id: string) =>
  Object.fromEntries(
    Object.entries(params)
      .filter(([, schema]) => schema.optional !== true)
      .map(([name, schema]) => [name, fillSchema(schema, id)]),
  );

/** Calls operations, and records which answers have texts of others. */
class Recorder {
  readonly leaks: string[] = [];
  calls = 0;
  succeeded = 0;

  readonly run = async (
    session: ApiSession,
    requests: readonly (readonly [method: string, params: object])[],
  ): Promise<void> => {
    const waiting = requests.values();
    const worker = async () => {
      for (const [method, params] of waiting)
        this.#record(method, params, await session.call(method, params));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };

  #record(method: string, params: object, answer: Answer): void {
    this.calls++;
    if (answer.error === undefined) this.succeeded++;
    if (JSON.stringify(answer).includes(CANARY))
      this.leaks.push(`${method} ${JSON.stringify(params)}`);
  }
}

t.test("operations do not reach objects of others", async (t) => {
  const { api, url, pools } = await startControlled(t, { hosts: 2, vms: 6 });
  const { database } = pools[0]!;
  const nobody = await api.signUp(t, "nobody");
  const owner = await api.signUp(t, "owner");
  const template = (
    await api.all({ type: "VM-template", name_label: "Other install media" })
  )[0]!.id;

  const [foreign] = await api.all({ type: "VM", power_state: "Running" });
  await api.request("vm.snapshot", { id: foreign!.id });
  // Each object of other users has a recognizable description, to be found in any answer.
  for (const className of ["VM", "VDI", "SR", "network", "host", "pool"])
    for (const ref of [...database.table(className).rows.keys()])
      database.update(className, ref, { name_description: CANARY });
  await api.request("vm.set", { id: foreign!.id, notes: CANARY });
  const all = await api.all({});
  const samples = TYPES.map((type) => {
    const found = all.filter((object) => object.type === type);
    const own = found.find(
      (object) => object["VM"] === foreign!.id || object["$VM"] === foreign!.id,
    );
    return { type, id: (own ?? found[0])!.id };
  });

  /** The only VM that the owner has a right on; created again after its end. */
  let own = "";
  const ownVm = async (): Promise<string> => {
    const found = own === "" ? [] : await api.all({ id: own, type: "VM" });
    if (found.length > 0) return own;
    own = (await api.request("vm.create", {
      name_label: "own",
      template,
      VDIs: [],
      VIFs: [],
    })) as string;
    const acl = { subject: owner.id, object: own, action: "admin" };
    await api.request("acl.add", acl);
    return own;
  };

  const infos = Object.entries(
    (await api.request("system.getMethodsInfo")) as Record<string, MethodInfo>,
  ).filter(([method]) => !SKIPPED.has(method));
  const before = new Map<string, string>();
  const snapshotOf = (className: string, ref: string) =>
    JSON.stringify(database.get(className, ref));
  await ownVm();
  for (const className of CLASSES)
    for (const ref of [...database.table(className).rows.keys()])
      before.set(`${className} ${ref}`, snapshotOf(className, ref));

  const recorder = new Recorder();
  const { run } = recorder;

  await t.test("for a user without rights", async () => {
    await run(
      nobody.session,
      infos.flatMap(([method, info]) =>
        samples.map(({ id }) => [method, required(info, id)] as const),
      ),
    );
  });

  await t.test("for the owner of another VM", async () => {
    for (const [method, info] of infos) {
      const names = idParams(info);
      if (names.length < 2) continue;
      const id = await ownVm();
      const params = required(info, id);
      await run(
        owner.session,
        names.flatMap((name) =>
          samples.map((sample) => {
            const value = fillSchema(info.params[name]!, sample.id);
            return [method, { ...params, [name]: value }] as const;
          }),
        ),
      );
    }
  });

  await t.test("for ids inside lists, objects and maps", async (t) => {
    const earlier = recorder.calls;
    for (const [method, info] of infos) {
      const id = await ownVm();
      const params = required(info, id);
      await run(
        owner.session,
        Object.entries(info.params).flatMap(([name, schema]) =>
          samples.flatMap((sample) =>
            nestedValues(schema, id, sample.id).map(
              (value) => [method, { ...params, [name]: value }] as const,
            ),
          ),
        ),
      );
    }
    t.ok(recorder.calls - earlier > 1_000, `${recorder.calls - earlier} calls`);
  });

  await t.test("for an anonymous client", async (t) => {
    const anonymous = await ApiSession.connect(t, url);
    const earlier = recorder.succeeded;
    const few = samples.filter(({ type }) => /^(VM|VDI|pool)$/.test(type));
    await run(
      anonymous,
      infos.flatMap(([method, info]) =>
        few.map(({ id }) => [method, required(info, id)] as const),
      ),
    );
    t.ok(
      recorder.succeeded - earlier > 20,
      "descriptions of the server itself",
    );
  });

  const { leaks, calls, succeeded } = recorder;
  t.same(leaks, [], "no answer has texts of others");
  const changed = [...before].flatMap(([key, text]) => {
    const [className, ref] = key.split(" ") as [string, string];
    const isOwn = text.includes(`"${own}"`);
    return isOwn || snapshotOf(className, ref) === text ? [] : [key];
  });
  t.same(changed, [], "nothing of others has changed");
  t.ok(calls > 5_000, `${calls} calls`);
  t.ok(succeeded > 100, `${succeeded} calls did something of their own`);
  const shown = JSON.stringify(await api.call("xo.getAllObjects"));
  t.ok(shown.includes(CANARY), "an administrator reads these texts");
});
