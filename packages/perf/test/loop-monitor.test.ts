// own process
import t from "tap";
import {
  createLoopMonitor,
  type Block,
  type LoopMonitorOptions,
} from "@xo-server/perf";
import { createFakeClock } from "./fake-clock.js";

function watch(options: LoopMonitorOptions = {}) {
  const clock = createFakeClock();
  const lines: [string, object | undefined][] = [];
  const log = (message: string, data?: object) => {
    lines.push([message, data]);
  };
  const monitor = createLoopMonitor({
    probeMs: 20,
    clock,
    loopTimes: () => clock.loopTimes(),
    cpuMs: () => clock.loopTimes().active,
    logger: { warn: log, debug: log, info: log },
    ...options,
  });
  const blocks: Block[] = [];
  monitor.onBlock((block) => blocks.push(block));
  monitor.start();
  return { clock, monitor, lines, blocks };
}

t.test(
  "an event-loop block is logged with its duration and no other data",
  async (t) => {
    const { clock, lines, blocks } = watch();
    clock.wait(100);
    clock.block(3419);
    t.same(lines, [["event loop blocked for 3419 ms", undefined]]);
    t.same(blocks, [{ ms: 3419, at: 3519 }]);
  },
);

t.test("CPU time before a block does not count", async (t) => {
  let usedMs = 0;
  const { clock, lines } = watch({ cpuMs: () => usedMs });
  clock.wait(400);
  usedMs += 150;
  clock.wait(160);
  clock.block(2_000);
  usedMs += 2_000;
  clock.block(2_000);
  t.match(lines, [
    [/2000 ms, without CPU time/, undefined],
    ["event loop blocked for 2000 ms", undefined],
  ]);
});

t.test("a block without CPU time is logged as such", async (t) => {
  const { clock, lines, blocks } = watch({ cpuMs: () => 100 });
  clock.block(500);
  clock.block(9_824);
  t.same(lines, [
    ["event loop blocked for 500 ms", undefined],
    [
      "event loop blocked for 9824 ms, without CPU time: the process was suspended, or waited for the operating system",
      undefined,
    ],
  ]);
  t.equal(blocks.length, 2);
});

t.test("short blocks are summed up once a minute", async (t) => {
  const levels: string[] = [];
  const log = (level: string) => (message: string) => {
    levels.push(`${level}: ${message}`);
  };
  const { clock } = watch({
    logger: { debug: log("debug"), info: log("info"), warn: log("warn") },
  });
  clock.block(100);
  clock.block(200);
  clock.block(1_100);
  clock.wait(60_000);
  t.same(levels, [
    "debug: event loop blocked for 100 ms",
    "debug: event loop blocked for 200 ms",
    "warn: event loop blocked for 1100 ms",
    "info: event loop blocked 2 times, 300 ms in all, at most 200 ms",
  ]);
  clock.wait(60_000);
  t.equal(levels.length, 4);
});

t.test("the part before the probe was due belongs to the block", async (t) => {
  const { clock, blocks, monitor } = watch();
  clock.block(55);
  t.equal(blocks[0]?.ms, 55);
  t.equal(monitor.histogram.max, 35, "the probe itself was 35 ms late");
});

t.test("waiting before the block does not belong to it", async (t) => {
  const { clock, lines, blocks } = watch();
  clock.wait(15);
  clock.block(60);
  t.equal(blocks[0]?.ms, 60);
  clock.wait(15);
  clock.block(45);
  t.equal(lines.length, 1, "45 ms are under the threshold, late as they are");
});

t.test(
  "idle time is not a block, and many short slices are none",
  async (t) => {
    const { clock, lines, monitor } = watch();
    clock.wait(1000);
    for (let i = 0; i < 100; i++) {
      clock.block(4);
      clock.wait(1);
    }
    t.same(lines, []);
    t.ok(monitor.histogram.max <= 4);
  },
);

t.test(
  "a process that was suspended from outside counts as blocked",
  async (t) => {
    const { clock, blocks } = watch({
      loopTimes: () => ({ idle: 0, active: 0 }),
    });
    clock.block(500);
    t.equal(blocks[0]?.ms, 480, "what the timer saw");
  },
);

t.test("the log line names the longest section", async (t) => {
  const { clock, lines, monitor, blocks } = watch();
  monitor.runSection("inventory: compact", () => {
    clock.work(4);
  });
  const result = monitor.runSection("inventory: apply batch", () => {
    clock.work(76);
    return "done";
  });
  t.equal(result, "done");
  clock.block(0);
  t.same(lines, [
    [
      "event loop blocked for 80 ms",
      { running: "inventory: apply batch", ms: 80 },
    ],
  ]);
  t.equal(blocks[0]?.running, "inventory: apply batch");
});

t.test("a section that throws ends all the same", async (t) => {
  const { clock, monitor, blocks } = watch();
  t.throws(
    () =>
      monitor.runSection("broken", () => {
        clock.work(70);
        throw new Error("as it came");
      }),
    { message: "as it came" },
  );
  clock.block(0);
  t.equal(blocks[0]?.running, "broken");
});

t.test("a section of an earlier block is not blamed again", async (t) => {
  const { clock, monitor, blocks } = watch();
  monitor.runSection("early", () => {
    clock.work(10);
  });
  clock.wait(100);
  clock.block(80);
  t.equal(blocks[0]?.running, undefined);
});

t.test("the longest delay is reset by each call", async (t) => {
  const { clock, monitor } = watch();
  clock.block(80);
  clock.block(200);
  t.equal(monitor.takeLongestMs(), 200);
  t.equal(monitor.takeLongestMs(), 0);
  t.equal(monitor.blocks.max, 200);
});

t.test("utilization is the active share since the last reading", async (t) => {
  const { clock, monitor } = watch();
  clock.wait(75);
  clock.block(25);
  t.equal(monitor.utilization(), 0.25);
  t.equal(monitor.utilization(), 0, "no time has passed");
  clock.block(60);
  t.match(monitor.snapshot(), {
    utilization: 1,
    blocks: 1,
    blockedMs: 60,
    longestBlockMs: 60,
  });
});

t.test(
  "stopping leaves no timer, and a second start has no effect",
  async (t) => {
    const { clock, monitor, lines } = watch();
    monitor.start();
    t.equal(clock.pending, 1);
    monitor.stop();
    monitor.stop();
    t.equal(clock.pending, 0);
    clock.block(1000);
    monitor.start();
    clock.wait(100);
    t.same(lines, [], "blocks before the start are not reported");
  },
);

t.test("an unsubscribed listener is not called", async (t) => {
  const { clock, monitor } = watch();
  let reports = 0;
  const leave = monitor.onBlock(() => reports++);
  clock.block(100);
  leave();
  clock.block(100);
  t.equal(reports, 1);
});

t.test("with traceBlocks the line carries the stack", async (t) => {
  const limit = Error.stackTraceLimit;
  let stopped = false;
  const { clock, lines, monitor } = watch({
    traceBlocks: true,
    blockedAt: (onBlock, { threshold }) => {
      t.equal(threshold, 50);
      Error.stackTraceLimit = Infinity;
      queueMicrotask(() => {
        onBlock(60, ["    at early (a.js:1:1)"], { type: "Timeout" });
        onBlock(300, ["    at load (b.js:2:2)"], { type: "TCPWRAP" });
      });
      return { stop: () => (stopped = true) };
    },
  });
  await Promise.resolve();
  clock.block(310);
  const [message, data] = lines[0]!;
  t.equal(message, "event loop blocked for 310 ms");
  t.match(data, { stack: ["at load (b.js:2:2)"], resource: "TCPWRAP" });
  monitor.stop();
  t.ok(stopped);
  t.equal(Error.stackTraceLimit, limit, "the process gets its limit back");
});

t.test("a real block is seen, and the real blocked-at traces it", async (t) => {
  const monitor = createLoopMonitor({ probeMs: 5, traceBlocks: true });
  // A busy machine has other blocks: shorter ones, and ones as long in which
  // the process did not run, which no callback and so no stack belongs to.
  const seen = new Promise<Block>((resolve) => {
    monitor.onBlock((block) => {
      if (block.ms >= 119 && block.trace !== undefined) resolve(block);
    });
  });
  monitor.start();
  const keepAlive = setInterval(() => undefined, 1000);
  setTimeout(() => {
    const end = performance.now() + 120;
    while (performance.now() < end);
  }, 10);
  const block = await seen;
  clearInterval(keepAlive);
  monitor.stop();
  t.match(block.trace?.stack.join("\n"), /loop-monitor\.test/);
  t.ok(monitor.utilization() > 0);
});
