import { XoError } from "@xo-server/model";
import t from "tap";
import { OtherServerTasks } from "../src/tasks/other-server-tasks.js";
import { FakeClock } from "./fake-clock.js";

/** Reads the tasks of other servers once, with a database that fails. @returns the warnings */
async function warningsOf(failure: Error): Promise<string[]> {
  const clock = new FakeClock();
  const warnings: string[] = [];
  let reads = 0;
  const tasks = new OtherServerTasks({
    store: {
      listOfOtherServers: () => {
        reads++;
        return Promise.reject(failure);
      },
      whichOf: () => Promise.resolve(new Set()),
    },
    owner: "xo1",
    clock,
    logger: { warn: (message) => void warnings.push(message) },
    notify: () => undefined,
  });
  tasks.start();
  while (reads < 2) {
    clock.pass(1_000);
    await new Promise(setImmediate);
  }
  tasks.stop();
  return warnings;
}

t.test(
  "a database that is unavailable, which reports itself, is not logged each second",
  async (t) => {
    const reason = "connect ECONNREFUSED";
    t.same(await warningsOf(new XoError("STORE_UNAVAILABLE", { reason })), []);
    t.match(await warningsOf(new Error("syntax")), [
      "tasks of other servers could not be read",
    ]);
  },
);
