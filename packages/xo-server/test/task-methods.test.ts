import t from "tap";
import { createLoggers } from "../src/log/logger.js";
import { taskOperations } from "../src/methods/jobs/task.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import type { CallContext } from "../src/operations/operation.js";
import { Rights } from "../src/rights/rights.js";
import { Tasks } from "../src/tasks/tasks.js";
import { FakeClock } from "./fake-clock.js";
import { FakeObjects } from "./fake-objects.js";
import { FakeTaskStore } from "./fake-task-store.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const contextOf = (...actions: string[]): CallContext =>
  ({
    user: {
      id: "u",
      name: "u",
      isAdmin: false,
      groups: [],
      rights: new Rights(
        actions.map((action) => ({
          effect: "allow",
          resource: "task",
          action,
        })),
      ),
    },
    permission: "user",
    address: "192.0.2.1",
  }) as unknown as CallContext;

t.test(
  "tasks of pools are cancelled and destroyed with the right",
  async (t) => {
    const calls: unknown[] = [];
    const objects = new FakeObjects([
      { id: "t", type: "task", _xapiRef: "OpaqueRef:t" },
      { id: "v", type: "VM", _xapiRef: "OpaqueRef:v" },
    ]);
    const xapi = {
      call: async (method: string, params: unknown) =>
        void calls.push([method, params]),
    };
    const tasks = new Tasks({
      store: new FakeTaskStore(),
      owner: "here",
      clock: new FakeClock(),
      logger: { warn: () => undefined },
    });
    const { catalog } = objects.views;
    const dispatcher = createTestDispatcher(taskOperations, {
      services: { tasks },
      objects: new PoolObjects(catalog, { xapi: () => xapi as never }),
      logger: createLoggers({ destination: { write: () => undefined } }).named(
        "xo:t",
      ),
    });
    const may = contextOf("read", "administrate");
    t.equal(await dispatcher.call("task.cancel", { id: "t" }, may), true);
    t.equal(await dispatcher.call("task.destroy", { id: "t" }, may), true);
    t.same(calls, [
      ["task.cancel", ["OpaqueRef:t"]],
      ["task.destroy", ["OpaqueRef:t"]],
    ]);
    for (const [id, context, code] of [
      ["t", contextOf("read"), "FORBIDDEN"],
      ["t", contextOf(), "NO_SUCH_OBJECT"],
      ["v", may, "NO_SUCH_OBJECT"],
      ["none", may, "NO_SUCH_OBJECT"],
    ] as const)
      await t.rejects(dispatcher.call("task.cancel", { id }, context), {
        code,
      });
    t.equal(calls.length, 2);
  },
);
