import t from "tap";
import { createLoggers } from "../src/log/logger.js";
import { StopStack } from "../src/lifecycle/stop-stack.js";

t.test(
  "services are stopped in reverse order, one after the other",
  async (t) => {
    const order: string[] = [];
    const stops = new StopStack(createLoggers({ level: "silent" }).named("x"));
    stops.push("first", () => void order.push("first"));
    stops.push("second", async () => {
      await Promise.resolve();
      order.push("second");
    });
    await stops.stop();
    t.same(order, ["second", "first"]);
    await stops.stop();
    t.equal(order.length, 2, "once only");
  },
);

t.test(
  "a service that fails does not prevent others from stopping",
  async (t) => {
    const lines: string[] = [];
    const loggers = createLoggers({
      destination: { write: (l) => lines.push(l) },
    });
    const stops = new StopStack(loggers.named("x"));
    let stopped = false;
    stops.push("good", () => void (stopped = true));
    stops.push("bad", () => {
      throw new Error("stuck");
    });
    await stops.stop();
    t.ok(stopped);
    t.match(lines.join(""), /bad did not stop cleanly.*stuck/);
  },
);
