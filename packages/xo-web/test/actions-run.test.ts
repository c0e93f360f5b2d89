import t from "tap";
import type { Json } from "@xo-server/kit";
import {
  ConnectionLostError,
  NotConnectedError,
  RpcError,
} from "../src/api/rpc-error.js";
import { defineAction, type Plan } from "../src/actions/plan/action.js";
import { allActions } from "../src/actions/all-actions.js";
import { TaskFollower } from "../src/actions/plan/follow-task.js";
import { createPlan } from "../src/actions/plan/create-plan.js";
import {
  runPlan,
  type Failed,
  type PlanForm,
  type Runner,
} from "../src/actions/plan/run-plan.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import type { ObjectRow } from "../src/api/object-row.js";
import type { Toast } from "../src/toasts/use-toasts.js";

const action = (id: string) => allActions.find((one) => one.id === id)!;
const vms = ["a", "b", "c"].map((id): ObjectRow => ({
  id,
  type: "VM",
  name_label: `vm-${id}`,
  power_state: "Running",
}));

type Answer = (method: string, params: Json) => Promise<Json>;

function start(answer: Answer) {
  const calls: [string, Json][] = [];
  const shown: Omit<Toast, "id">[] = [];
  const ids = new Set<string>();
  const failed: Failed[] = [];
  const went: string[] = [];
  const timeouts: (() => void)[] = [];
  const call = (method: string, params: Json = {}) => {
    calls.push([method, params]);
    return answer(method, params);
  };
  const follower = new TaskFollower(call);
  const runner: Runner = {
    call,
    follower,
    toasts: {
      show({ id = `t${shown.length}`, ...toast }) {
        ids.add(id);
        shown.push(toast);
        return id;
      },
    },
    localization: () => ({ text: en, formats: new Formats("en", en) }),
    go: (path) => went.push(path),
    showFailures: (one) => failed.push(one),
    now: () => 0,
    // Nothing is shown for what is done at once.
    setTimeout: (expire) => {
      timeouts.push(expire);
    },
    clearTimeout: () => {
      timeouts.length = 0;
    },
  };
  const run = (
    id: string,
    objects: readonly ObjectRow[],
    plan?: Plan,
    form?: PlanForm,
  ) =>
    runPlan(
      runner,
      action(id),
      plan ?? createPlan(action(id), objects, {}),
      form,
    );
  return { run, calls, shown, ids, failed, follower, went, timeouts };
}

t.test(
  "one operation is called, and its outcome shown in one toast with undo",
  async (t) => {
    const { run, calls, shown, ids } = start(() => Promise.resolve(true));
    await run("vm.suspend", vms.slice(0, 1));
    t.same(calls, [["vm.suspend", { id: "a" }]]);
    t.match(shown, [
      { tone: "good", text: "Suspend: vm-a", action: { label: "Undo" } },
    ]);
    await shown[0]!.action!.run();
    t.same(calls.at(-1), ["vm.resume", { id: "a" }]);
    t.equal(shown.at(-1)!.detail, "Undone");
    t.equal(ids.size, 1, "toasts do not pile up");
  },
);

t.test("objects that were left out are named at the end", async (t) => {
  const { run, shown } = start(() => Promise.resolve(true));
  const suspend = action("vm.suspend");
  await run("vm.suspend", [], {
    ...createPlan(suspend, vms.slice(0, 1), {}),
    skipped: [
      { reason: "The VM is halted", count: 12, names: ["a", "b", "c"] },
      { reason: "The VM is paused", count: 2, names: ["d", "e"] },
    ],
  });
  t.equal(
    shown[0]?.detail,
    "Done. 12 selected objects are skipped: The VM is halted. Skipped: d, e (The VM is paused)",
  );
});

t.test("an undo that fails is reported", async (t) => {
  const { run, shown } = start((method) =>
    method === "vm.suspend"
      ? Promise.resolve(true)
      : Promise.reject(new RpcError(2, "no")),
  );
  await run("vm.suspend", vms.slice(0, 1));
  await shown[0]!.action!.run();
  t.match(shown.at(-1), { tone: "bad", detail: /Undo failed/ });
});

t.test("an error is shown with its remedy", async (t) => {
  const { run, shown } = start(() => Promise.reject(new RpcError(2, "no")));
  await run("vm.pause", vms.slice(0, 1));
  t.match(shown, [{ tone: "bad", detail: /administrator/ }]);
});

t.test("a lost connection is reported with a link to the tasks", async (t) => {
  const { run, shown, went } = start(() =>
    Promise.reject(new ConnectionLostError("gone")),
  );
  await run("vm.pause", vms.slice(0, 1));
  t.match(shown, [{ tone: "plain", detail: /may still be running/ }]);
  await shown[0]!.action!.run();
  t.same(went, ["/tasks"]);
});

/** The dialog of an action, and what it shows. */
function openForm() {
  let state: "open" | "hidden" | "removed" = "open";
  const problems: string[] = [];
  const form: PlanForm = {
    isOpen: () => state === "open",
    isRetained: () => state !== "removed",
    hide: () => {
      state = "hidden";
    },
    fail(problem) {
      state = "open";
      problems.push(problem);
    },
    remove: () => {
      state = "removed";
    },
  };
  return { form, problems, state: () => state };
}

t.test("a form stays open with the error of its action", async (t) => {
  const refused = Promise.reject(new RpcError(2, "no"));
  const { run, shown, timeouts } = start(() => refused);
  const { form, problems, state } = openForm();
  await run("vm.pause", vms.slice(0, 1), undefined, form);
  t.equal(state(), "open");
  t.match(problems, [/administrator/]);
  t.same(shown, [], "no toast");
  t.same(timeouts, [], "it is not hidden later");
});

t.test("a form stays open when its request could not be sent", async (t) => {
  const { run, shown } = start(() => Promise.reject(new NotConnectedError()));
  const { form, problems, state } = openForm();
  await run("vm.pause", vms.slice(0, 1), undefined, form);
  t.equal(state(), "open");
  t.match(problems, [/Nothing was changed/]);
  t.same(shown, []);
});

t.test("a form is removed when its action has succeeded", async (t) => {
  const { run, shown } = start(() => Promise.resolve(true));
  const { form, state } = openForm();
  await run("vm.pause", vms.slice(0, 1), undefined, form);
  t.equal(state(), "removed");
  t.match(shown, [{ tone: "good" }]);
});

t.test(
  "the form of an action that takes long is hidden, and opened again from the toast of its failure",
  async (t) => {
    let refuse: (error: Error) => void = () => undefined;
    const answer = new Promise<Json>((_, reject) => (refuse = reject));
    const { run, shown, timeouts } = start(() => answer);
    const { form, problems, state } = openForm();
    const done = run("vm.pause", vms.slice(0, 1), undefined, form);
    timeouts[0]!();
    t.equal(state(), "hidden");
    t.match(shown, [{ tone: "busy" }]);
    refuse(new RpcError(2, "no"));
    await done;
    t.equal(state(), "hidden", "no dialog opens by itself");
    const { action: again } = shown.at(-1)!;
    t.equal(again!.label, en.actions.reopen);
    await again!.run();
    t.equal(state(), "open");
    t.match(problems, [/administrator/]);
  },
);

t.test(
  "what may still be running is not offered again: the form is removed",
  async (t) => {
    const lost = Promise.reject(new ConnectionLostError("gone"));
    const { run, shown } = start(() => lost);
    const { form, state } = openForm();
    await run("vm.pause", vms.slice(0, 1), undefined, form);
    t.equal(state(), "removed");
    t.match(shown, [{ tone: "plain", action: { label: en.actions.tasks } }]);
  },
);

t.test("the form of an action on several objects is removed", async (t) => {
  const { run } = start(bulk(() => []));
  const { form, state } = openForm();
  void run("vm.suspend", vms, undefined, form);
  t.equal(state(), "removed", "when it starts");
});

/** Answers as the server does to a bulk. */
function bulk(tasks: () => Json): Answer {
  return (method) => {
    if (method === "bulk.run") return Promise.resolve({ taskId: "T" });
    return Promise.resolve(method === "task.list" ? tasks() : true);
  };
}

t.test(
  "many objects are one bulk operation, followed to its end",
  async (t) => {
    const { run, calls, shown, follower } = start(bulk(() => []));
    const done = run("vm.suspend", vms);
    await new Promise(setImmediate);
    const counts = {
      total: 3,
      succeeded: 2,
      failed: 0,
      running: 1,
      waiting: 0,
    };
    follower.notified({ update: [{ id: "T", status: "pending", counts }] });
    follower.notified({ update: [{ id: "other", status: "success" }] });
    const result = { succeeded: 3, failed: [] };
    follower.notified({ update: [{ id: "T", status: "success", result }] });
    await done;
    t.match(calls[0], [
      "bulk.run",
      { method: "vm.suspend", ids: ["a", "b", "c"], idParameter: "id" },
    ]);
    t.match(shown, [
      { tone: "busy", text: "Suspend: 3 VMs", detail: "2 of 3" },
      { tone: "good", detail: "All 3 done", action: { label: "Undo" } },
    ]);
  },
);

t.test("failed items can be read and retried separately", async (t) => {
  const result = {
    name: "XoError",
    code: "SOME_FAILED",
    message: "",
    succeeded: 2,
    failed: [{ id: "b", error: { code: "HANDLE_INVALID", message: "x" } }],
    data: { failed: 1, total: 3 },
  };
  const { run, shown, failed } = start(
    bulk(() => [{ id: "T", status: "failure", result }]),
  );
  await run("vm.suspend", vms);
  t.match(shown.at(-1), { tone: "bad", detail: "2 done, 1 failed" });
  await shown.at(-1)!.action!.run();
  const [{ retry }] = failed as [Failed];
  t.same(
    retry.steps.map(({ objects }) => objects.map(({ id }) => id)),
    [["b"]],
  );
});

t.test("a task that ended while disconnected is found again", async (t) => {
  let tasks: Json = [];
  const { run, shown, follower } = start(bulk(() => tasks));
  const done = run("vm.suspend", vms);
  await new Promise(setImmediate);
  tasks = [
    { id: "T", status: "success", result: { succeeded: 3, failed: [] } },
  ];
  await follower.renew();
  await done;
  t.match(shown.at(-1), { tone: "good" });
});

t.test("a created file can be opened", async (t) => {
  const copy = defineAction({ ...action("vm.copy") });
  const { run, shown, went } = start(() => Promise.resolve("new"));
  const order = { method: "vm.clone" };
  await run(copy.id, vms, {
    steps: [{ operation: order, objects: vms.slice(0, 1) }],
  });
  await shown[0]!.action!.run();
  t.same(went, ["/vms/new"]);
});

/** A server whose downloads become tasks when `fetch` says so. */
function transfers() {
  const asked: string[] = [];
  let tasks: Json[] = [
    // An export of before.
    task("t0", "a", "success"),
  ];
  const input = start((method, params) => {
    if (method === "task.list") return Promise.resolve(tasks);
    if (method === "vm.export") {
      const { id } = params as { id: string };
      asked.push(id);
      if (id === "b") return Promise.reject(new RpcError(9, "no such VM"));
    }
    return Promise.resolve({});
  });
  const change = async (id: string, vm: string, status: string) => {
    tasks = [...tasks, task(id, vm, status)];
    input.follower.notified({ update: [task(id, vm, status)] });
    await settled();
  };
  return { ...input, asked, change };
}

function task(id: string, vm: string, status: string): Json {
  const properties = { objectId: vm, operation: "vm.export" };
  return { id, status, properties, result: { message: "no space" } };
}

/** All that is awaited has gone on. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

t.test(
  "several downloads are requested one after another, and failures listed",
  async (t) => {
    const { run, asked, change, shown, failed } = transfers();
    const ended = run("vm.export", vms);
    await settled();
    t.same(asked, ["a"]);
    await change("t1", "a", "pending");
    t.same(asked, ["a"], "while the first is under way");
    await change("t1", "a", "success");
    t.same(asked, ["a", "b", "c"], "one that is refused does not stop them");
    await change("t2", "c", "failure");
    await ended;
    t.match(shown.at(-1), { tone: "bad", detail: /1 .*2 / });
    await shown.at(-1)!.action!.run();
    t.match(failed, [
      {
        failures: [
          { id: "b", error: { message: "no such VM" } },
          { id: "c", error: { message: "no space" } },
        ],
        retry: { steps: [{ objects: [{ id: "b" }, { id: "c" }] }] },
      },
    ]);
  },
);

t.test("a download is reported as started, its task as done", async (t) => {
  const { run, shown } = start(() => Promise.resolve({}));
  await run(
    "vm.export",
    [],
    createPlan(action("vm.export"), vms.slice(0, 1), {}),
  );
  t.equal(shown.at(-1)?.detail, "The download has started.");
});
