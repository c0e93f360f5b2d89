import t from "tap";
import { ApiSession, startOver } from "./api-session.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

interface Task {
  readonly status: string;
  readonly counts: Readonly<Record<string, number>>;
}

t.test(
  "all matches of a filter are stopped and started over REST",
  LIMIT,
  async (t) => {
    const { url } = await startOver(t, []);
    const session = await ApiSession.open(t, url);
    const vms = await session.all({ type: "VM", power_state: "Running" });
    const ids = vms.slice(0, 4).map(({ id }) => id);
    for (const id of ids) await session.request("tag.add", { tag: "many", id });
    const run = async (body: object) => {
      const answer = await session.rest("POST", "/bulk", body);
      t.equal(answer.status, 202);
      const { taskId } = (await answer.json()) as { taskId: string };
      const ended = await session.rest("GET", `/tasks/${taskId}?wait=true`);
      return (await ended.json()) as Task;
    };
    const filter = "tags:many";
    const params = { force: true };
    t.match(await run({ method: "vm.stop", filter, params }), {
      status: "success",
      properties: { operation: "bulk.run" },
      counts: { total: 4, succeeded: 4, failed: 0 },
    });
    for (const id of ids)
      t.match(await session.get(id), { power_state: "Halted" });
    t.match(await run({ method: "vm.start", ids: [...ids, "none"] }), {
      status: "failure",
      result: {
        code: "SOME_FAILED",
        succeeded: 4,
        failed: [{ id: "none", error: { code: "NO_SUCH_OBJECT" } }],
      },
    });
    const refused = await session.rest("POST", "/bulk", { method: "vm.start" });
    t.equal(refused.status, 422);
  },
);

t.test("calls that start nothing do not store tasks", LIMIT, async (t) => {
  const { url } = await startOver(t, []);
  const session = await ApiSession.open(t, url);
  const tasks = async () => {
    const all: unknown = await (await session.rest("GET", "/tasks")).json();
    return (all as unknown[]).length;
  };
  const before = await tasks();
  const nothing = { method: "vm.start", filter: "name_label:/^no such VM$/" };
  const none = { succeeded: 0, failed: [] };
  t.same(await session.request("bulk.run", nothing), none);
  t.same(await session.request("bulk.run", { ...nothing, sync: true }), none);
  const answer = await session.rest("POST", "/bulk", nothing);
  t.equal(answer.status, 200);
  t.same(await answer.json(), none);
  const unknown = { method: "vm.start", ids: ["no such VM"] };
  t.equal((await session.rest("POST", "/bulk", unknown)).status, 404);
  t.equal(await tasks(), before);
});

t.test("several VMs are copied under names by a pattern", LIMIT, async (t) => {
  const { url } = await startOver(t, []);
  const session = await ApiSession.open(t, url);
  const halted = await session.all({ type: "VM", power_state: "Halted" });
  const vms = halted.slice(0, 2);
  const copy = (params: object) =>
    session.call("bulk.run", {
      method: "vm.clone",
      ids: vms.map(({ id }) => id),
      params,
      sync: true,
    });
  t.match(await copy({ namePattern: "$& of {name}, {name}" }), {
    result: { succeeded: 2 },
  });
  for (const { name_label: name } of vms) {
    const requested = `$& of ${String(name)}, ${String(name)}`;
    const created = await session.all({ type: "VM", name_label: requested });
    t.equal(created.length, 1, requested);
  }
  const both = { id: vms[0]!.id, namePattern: "{name}", name: "x" };
  t.match(await session.call("vm.clone", both), {
    error: { data: { code: "INVALID_PARAMETERS", reason: /not both/ } },
  });
});

t.test(
  "of two operators at one VM the second gets a busy error",
  LIMIT,
  async (t) => {
    const { url } = await startOver(t, []);
    const [one, other] = [
      await ApiSession.open(t, url),
      await ApiSession.open(t, url),
    ];
    const vms = await one.all({ type: "VM", power_state: "Running" });
    const { id } = vms[0]!;
    const answers = await Promise.all([
      one.call("vm.restart", { id }),
      other.call("vm.stop", { id }),
    ]);
    const failed = answers.filter(({ error }) => error !== undefined);
    t.equal(failed.length, 1, "one is done");
    t.match(failed[0]?.error, {
      data: { code: "OTHER_OPERATION_IN_PROGRESS" },
    });
    const isStopped = answers[0].error !== undefined;
    t.match(await one.get(id), {
      power_state: isStopped ? "Halted" : "Running",
      current_operations: {},
    });
  },
);
