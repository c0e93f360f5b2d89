import t from "tap";
import { untrackedTask } from "../src/tasks/task-context.js";
import { XapiTaskWatch } from "../src/tasks/xapi-task-watch.js";
import { FakeClock } from "./fake-clock.js";

const VM = "OpaqueRef:vm";
const TASK = "OpaqueRef:task";

/** A pool with one XAPI task without a mark, as that of a client of another product. */
function setUp() {
  const clock = new FakeClock();
  const watched: string[] = [];
  const created = new Date(clock.now()).toISOString().replace(/-|\.\d+/g, "");
  const xapi = {
    state: { name: "connected" },
    watchTask: (ref: string) => {
      watched.push(ref);
      return new Promise(() => undefined);
    },
    call: async (method: string) => {
      if (method === "task.get_all_records")
        return {
          [TASK]: { name_label: "Async.VM.start", created, status: "pending" },
        };
      return method === "VM.get_current_operations" ? { [TASK]: "start" } : "";
    },
  };
  const pools = { xapi: () => xapi, listSummaries: () => [{ id: "p" }] };
  const watch = new XapiTaskWatch({
    pools: pools as never,
    steps: { openSecret: () => undefined },
    clock,
  });
  const recover = (call: string) => {
    const subject = { pool: "p", method: "VM.start", object: VM };
    const xapiTask = { ...subject, call, begunAt: clock.now() };
    return watch.awaitOutcome(xapiTask, untrackedTask);
  };
  return { recover, watched };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

t.test("a call that is recovered twice finds the same XAPI task", async (t) => {
  const { recover, watched } = setUp();
  void recover("task/1");
  await settled();
  // The lease was lost and regained.
  void recover("task/1");
  await settled();
  t.same(watched, [TASK, TASK]);
});

t.test("two calls do not find the same XAPI task", async (t) => {
  const { recover, watched } = setUp();
  void recover("task/1");
  await settled();
  t.match(await recover("task/2"), { name: "not-begun" });
  t.same(watched, [TASK]);
});
