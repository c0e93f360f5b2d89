import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import t from "tap";

// Programs of their own, on a busy machine.
t.comment("timeout=60000");

const file = fileURLToPath(new URL("./blocked-program.js", import.meta.url));

async function run(...args: string[]) {
  // The hooks of tap would run in the worker thread, too.
  const env = { ...process.env, NODE_OPTIONS: "" };
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  const ended = once(child, "exit") as Promise<[number | null, string | null]>;
  const output = text(child.stdout);
  const [code, signal] = await ended;
  const lines = (await output).split("\n").filter((l) => l.startsWith("{"));
  return { code, signal, lines };
}

for (const block of ["microtasks", "loop"])
  t.test(`${block}: the stack is logged, exit code 75`, async (t) => {
    const { code, lines } = await run(block);
    t.equal(code, 75);
    t.equal(lines.length, 1);
    const { stacks, ...line } = JSON.parse(lines[0]!) as { stacks: string[] };
    t.match(line, {
      level: "error",
      name: "xo:watchdog",
      msg: "the event loop has been blocked for 1200 ms, ending the process",
    });
    t.match(stacks.join(" "), /blocked-program\.js:\d+/);
  });

t.test("a main thread in a system call has no stack", async (t) => {
  const { signal, lines } = await run("system call");
  t.equal(signal, "SIGKILL");
  t.match(lines, [/unknown: the main thread executes no JavaScript/]);
});

for (const block of ["short blocks", "a debugger"])
  t.test(`${block}: the process is not ended`, async (t) => {
    const { code, lines } = await run(block);
    t.equal(code, 0);
    t.same(lines, []);
  });
