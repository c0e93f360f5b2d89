import t from "tap";
import { taskName } from "../src/tasks/task-name.js";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import { toastOf } from "../src/tasks/ended-text.js";
import { mergeTasks, overallProgress } from "../src/tasks/merge-tasks.js";
import { TaskBook } from "../src/tasks/task-book.js";
import {
  leftOf,
  plainName,
  poolTaskItem,
  reasonOf,
  toTaskItem,
} from "../src/tasks/task.js";

const reported = (id: string, status = "pending", more: object = {}) => ({
  id,
  status,
  start: 1_000,
  progress: 50,
  infos: [],
  warnings: [],
  properties: { name: `REST API: start VM`, objectId: "v", objectType: "VM" },
  ...more,
});
const item = (id: string, status = "pending", more: object = {}) =>
  toTaskItem(reported(id, status, more))!;
const formats = new Formats("en", en);

t.test("objects that a bulk operation has failed for", async (t) => {
  const failed = [{ id: "b", name: "vm-b", error: { message: "x" } }];
  const params = { force: true };
  const bulk = (more: object = {}, result: object = { failed }) =>
    item("1", "failure", {
      properties: {
        operation: "bulk.run",
        params: { method: "vm.stop", idParameter: "id", params, ...more },
      },
      result,
    });
  t.same(bulk().failedItems, {
    method: "vm.stop",
    items: failed,
    leftOut: 0,
    retry: { method: "vm.stop", idParameter: "id", ids: ["b"], params },
  });
  t.equal(bulk({}, { failed, failedLeftOut: 7 }).failedItems?.leftOut, 7);
  t.equal(
    bulk({ isIncomplete: true }).failedItems?.retry,
    undefined,
    "not with a part of its parameters",
  );
  t.equal(
    bulk({ idParameter: undefined }).failedItems?.retry,
    undefined,
    "not of tasks of earlier versions",
  );
  t.equal(bulk({}, { failed: [] }).failedItems, undefined);
  t.equal(bulk({}, { message: "no" }).failedItems, undefined);
  t.equal(item("2", "failure").failedItems, undefined, "not a bulk operation");
  const { properties } = reported("3");
  const pending = item("3", "pending", {
    properties: {
      ...properties,
      operation: "bulk.run",
      params: { method: "vm.stop" },
    },
    result: { failed },
  });
  t.equal(pending.failedItems, undefined, "not while it runs");
});

t.test("a task of the server, with its subtasks and error", async (t) => {
  const task = item("1", "failure", {
    end: 3_000,
    result: { message: "SOME_FAILED" },
    counts: { total: 5, succeeded: 3, failed: 1, running: 1, waiting: 0 },
    warnings: [{ message: "careful" }],
    tasks: [reported("1.1", "success"), { nothing: true }],
  });
  t.match(task, {
    source: "ours",
    status: "failure",
    progress: 0.5,
    end: 3_000,
    object: { type: "VM", id: "v" },
    failure: { message: "SOME_FAILED" },
    notes: ["careful"],
    counts: { total: 5, succeeded: 3, failed: 1 },
  });
  t.equal(task.parts.length, 1);
  t.equal(task.isCancellable, false);
  t.equal(toTaskItem({ status: "pending" }), undefined);
  t.equal(toTaskItem(null), undefined);
  const inPart = item("2", "interrupted", {
    tasks: [reported("2.1", "failure", { result: { code: "NO_HOSTS" } })],
  });
  t.same(reasonOf(inPart), { code: "NO_HOSTS", message: "NO_HOSTS" });
  const bulk = item("3", "pending", {
    properties: {
      name: "bulk",
      operation: "bulk.run",
      params: { method: "vm.start" },
    },
  });
  t.equal(bulk.name, "vm.start", "of many, what is done to them");
  const id = "38eb130a-b00b-462a-a5ec-4aee7c14c615";
  const part = item("4", "pending", {
    properties: { name: `vm.start ${id}` },
  });
  t.match(part, { name: "vm.start", object: { type: "VM", id } });
});

t.test("a task of a pool", async (t) => {
  const row = {
    id: "1",
    type: "task",
    name_label: "Async.VM.start",
    status: "pending",
    progress: 0.25,
    created: 5,
    $host: "h",
    allowedOperations: ["cancel"],
  };
  t.match(poolTaskItem(row), {
    source: "pool",
    start: 5_000,
    progress: 0.25,
    isCancellable: true,
    object: { type: "host", id: "h" },
  });
  const ended = { ...row, status: "cancelled", finished: 7, result: "x" };
  t.match(poolTaskItem(ended), {
    status: "interrupted",
    isCancelled: true,
    end: 7_000,
    failure: undefined,
    isCancellable: false,
  });
  t.equal(plainName("XAPI: Async.VM.clean_shutdown"), "VM.clean_shutdown");
  t.equal(plainName("REST API: clean_shutdown VM"), "clean shutdown VM");
});

t.test("postponed notifications are sent when possible", async (t) => {
  const task = item("1");
  t.equal(leftOf(task, 2_000), undefined, "too soon");
  t.equal(leftOf(task, 11_000), 10_000);
  t.equal(leftOf({ ...task, progress: 0.01 }, 11_000), undefined);
  t.equal(leftOf({ ...task, status: "success" }, 11_000), undefined);
});

t.test(
  "notifications update the task list and report ended tasks",
  async (t) => {
    const book = new TaskBook();
    t.same(book.reset([reported("a"), reported("b", "success")]), []);
    t.same(
      book
        .take({
          update: [reported("a", "success"), reported("b", "success")],
          remove: [],
        })
        .map(({ id }) => id),
      ["a"],
    );
    const quick = reported("c", "failure", { start: 9_000 });
    t.equal(book.take({ update: [quick], remove: [] }).length, 1);
    t.same(
      book.tasks.map(({ id }) => id),
      ["c", "b", "a"],
    );
    book.take({ update: [reported("d")], remove: ["a", "b"] });
    t.same(
      book.tasks.map(({ id }) => id),
      ["c", "d"],
    );
    t.same(
      book
        .reset([reported("d", "success"), reported("old", "success")])
        .map(({ id }) => id),
      ["d"],
      "what ended while the server was stopped",
    );
  },
);

t.test("one list: running first, then the newest", async (t) => {
  const ours = [item("a", "success", { start: 3 }), item("b")];
  const pool = [
    poolTaskItem({ id: "p", type: "task", status: "success", created: 2 }),
  ];
  const ids = (choice: Parameters<typeof mergeTasks>[2]) =>
    mergeTasks(ours, pool, choice).map(({ id }) => id);
  t.same(ids({ status: "all", source: "all" }), ["b", "p", "a"]);
  t.same(ids({ status: "success", source: "ours" }), ["a"]);
  t.same(ids({ status: "pending", source: "all" }), ["b"]);
  t.equal(
    overallProgress([item("a"), item("b", "pending", { progress: 0 })]),
    0.25,
  );
  t.equal(overallProgress([]), 0);
});

t.test("one toast for many ended tasks", async (t) => {
  const toast = (...tasks: Parameters<typeof toastOf>[0]) =>
    toastOf(tasks, en, formats);
  const failed = item("f", "failure", { result: { message: "why" } });
  t.match(toast(item("a", "success")), {
    id: "task a",
    tone: "good",
    text: "Done: start VM",
  });
  t.match(toast(failed), { tone: "bad", detail: "why" });
  t.match(toast(item("a", "success"), item("b", "success")), {
    id: "tasks ended",
    tone: "good",
    text: "2 tasks done",
  });
  t.match(toast(item("a", "success"), failed), {
    tone: "bad",
    text: "1 task done, 1 failed",
    detail: "why",
  });
  t.equal(toast(), undefined);
});

t.test("the toast of a failed job names VM, repository and run", async (t) => {
  const ended = (jobType: string) =>
    item("j", "failure", {
      properties: { name: "job.runNow", operation: "job.runNow" },
      result: {
        code: "SOME_FAILED",
        message: "job every night: 2 of 9 failed: web-1, db: nightly: full",
        data: {
          run: "r1",
          jobName: "every night",
          jobType,
          failed: 2,
          total: 9,
          reasons: "web-1, db: nightly: full",
        },
      },
    });
  const failed = ended("backup");
  t.strictSame(toastOf([failed], en, formats), {
    id: "task j",
    tone: "bad",
    text: "Failed: every night",
    detail: "2 of 9 failed: web-1, db: nightly: full",
    runPath: "/backup/runs/r1",
  });
  t.match(toastOf([failed], de, new Formats("de", de)), {
    text: "Fehlgeschlagen: every night",
    detail: "2 von 9 fehlgeschlagen: web-1, db: nightly: full",
  });
  t.strictSame(toastOf([failed, item("a", "success")], en, formats), {
    id: "tasks ended",
    tone: "bad",
    text: "1 task done, 1 failed",
    detail: "every night: 2 of 9 failed: web-1, db: nightly: full",
    runPath: "/backup/runs/r1",
  });
  t.equal(
    toastOf([failed, failed], en, formats)?.runPath,
    undefined,
    "of several runs none is chosen",
  );
  t.equal(
    toastOf([ended("call")], en, formats)?.runPath,
    undefined,
    "a job of another type has no page",
  );
});

t.test("XAPI tasks are named as the actions of the page", (t) => {
  const named = (name: string) =>
    taskName({ name, source: "ours", object: undefined }, en);
  t.equal(named("Async.VM.clean_reboot"), "Reboot");
  t.equal(named("VM.pool_migrate"), "Migrate");
  t.equal(named("Async.VM.destroy"), "Delete");
  t.equal(named("VM.start_on"), "Start on");
  t.equal(named("Async.PBD.plug"), "PBD.plug", "no such action");
  t.equal(named("load balancer: P"), "Load balancer: P");
  t.end();
});

t.test("names of tasks of the server are in the language of the page", (t) => {
  const named = (name: string, text = de) =>
    taskName({ name, source: "ours", object: undefined }, text);
  t.equal(named("Restore of db-1"), "Wiederherstellung von db-1");
  t.equal(
    named("Restore of disk data"),
    "Wiederherstellung der Festplatte data",
  );
  t.equal(named("Import of 3 VMs of esx"), "Import von 3 VMs von esx");
  t.equal(named("load balancer: P"), "Lastverteilung: P");
  t.equal(named("Restore of db-1", en), "Restore of db-1");
  t.equal(named("Restore"), "Restore", "other names stay");
  t.end();
});

t.test("tasks of a pool show what is rebooted, as they link to a host", (t) => {
  const named = (name: string) =>
    taskName({ name, source: "pool", object: { type: "host", id: "h" } }, en);
  t.equal(named("Async.VM.clean_reboot"), "Reboot (VM)");
  t.equal(named("Async.host.reboot"), "Reboot");
  t.equal(named("Async.PBD.plug"), "PBD.plug");
  t.end();
});

t.test("an action over REST that has failed can be run again", async (t) => {
  const retry = {
    method: "vm.start",
    idParameter: "id",
    ids: ["v"],
    params: {},
  };
  const properties = { name: "REST API: start VM", objectId: "v", retry };
  t.same(item("1", "failure", { properties }).retry, retry);
  t.same(item("1", "interrupted", { properties }).retry, retry);
  t.equal(item("1", "pending", { properties }).retry, undefined);
  t.equal(item("1", "success", { properties }).retry, undefined);
  t.equal(item("1", "failure").retry, undefined, "not of other tasks");
});

t.test("a XAPI task is named with the VM that it works on", async (t) => {
  const row = {
    id: "task",
    type: "task",
    name_label: "Async.VM.clean_reboot",
    status: "pending",
    $host: "h",
  };
  const ofVm = poolTaskItem(row, "v");
  t.same(ofVm.object, { type: "VM", id: "v" });
  t.equal(taskName(ofVm, en), "Reboot");
  const ofHost = poolTaskItem(row);
  t.same(ofHost.object, { type: "host", id: "h" });
  t.equal(taskName(ofHost, en), "Reboot (VM)");
});
