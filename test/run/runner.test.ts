import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import t, { type Test } from "tap";

const MAIN = join(import.meta.dirname, "main.js");

/** Runs the runner on test files with these contents, all in one process. */
async function run(
  t: Test,
  files: Readonly<Record<string, string>>,
  limitMs = 60_000,
) {
  const folder = t.testdir({ ...files });
  const names = Object.keys(files).map((name) => join(folder, name));
  const child = spawn(process.execPath, [MAIN, ...names], {
    env: { ...process.env, XO_TEST_TIMEOUT: String(limitMs) },
  });
  t.teardown(() => child.kill());
  const exited = once(child, "exit") as Promise<[number]>;
  const output = await text(child.stdout);
  const [code] = await exited;
  return { code, output, last: output.trimEnd().split("\n").at(-1)! };
}

const passes = `import t from "tap"; t.test("adds", async (t) => { t.ok(1); t.ok(2); });`;

t.test("counts assertions and exits with 0", async (t) => {
  const { code, last } = await run(t, {
    "a.test.js": passes,
    "b.test.js": `import t from "tap"; t.test("later", { skip: "no reason" }, () => {}); t.ok(1);`,
  });
  t.equal(last, "3 passed, 0 failed, 1 skipped");
  t.equal(code, 0);
});

t.test("prints a failure with its title and difference", async (t) => {
  const { code, output, last } = await run(t, {
    "a.test.js": `import t from "tap"; t.test("outer", async (t) => { t.test("inner", async (t) => { t.equal("is", "should be"); }); });`,
    "b.test.js": passes,
  });
  t.match(output, /a\.test\.js > outer > inner > should be equal/);
  t.match(output, /-should be\n\+is/);
  t.equal(last, "2 passed, 1 failed, 0 skipped");
  t.equal(code, 1);
});

t.test("teardown of each file runs before the next one starts", async (t) => {
  const { last } = await run(t, {
    "a.test.js": `
      import t from "tap";
      t.teardown(() => { globalThis.closed = true; });
      t.beforeEach((t) => { t.context = "of a"; });
      const dir = t.testdir({ file: "" });
      t.test("is open", async (t) => { t.notOk(globalThis.closed); t.match(dir, "a.test.js"); });`,
    "b.test.js": `
      import t from "tap";
      t.ok(globalThis.closed);
      t.test("has no hooks of a", async (t) => { t.not(t.context, "of a"); });`,
  });
  t.equal(last, "4 passed, 0 failed, 0 skipped");
});

t.test("a file that ends its process fails; the next one runs", async (t) => {
  const { code, output, last } = await run(t, {
    "a.test.js": `console.log("last words"); process.exit(3);`,
    "b.test.js": passes,
  });
  t.match(output, /a\.test\.js ended its process: exit 3/);
  t.match(output, "last words");
  t.equal(last, "2 passed, 1 failed, 0 skipped");
  t.equal(code, 1);
});

t.test("an error outside of a test fails its file", async (t) => {
  const { code, last } = await run(t, {
    "a.test.js": `import t from "tap"; t.ok(1); setTimeout(() => { throw new Error("late"); }); await new Promise((done) => setTimeout(done, 50));`,
    "b.test.js": passes,
  });
  t.match(last, /^3 passed, 1 failed/);
  t.equal(code, 1);
});

t.test("an error that nothing catches fails the test that runs", async (t) => {
  const late = "await new Promise((done) => setTimeout(done, 50));";
  const { code, output, last } = await run(t, {
    "a.test.js": `import t from "tap";
      t.test("throws", async (t) => { setTimeout(() => { throw new Error("later"); }); ${late} });
      t.test("outer", async (t) => { t.test("rejects", async () => { void Promise.reject(new Error("lost")); ${late} }); });
      t.test("goes on", async (t) => t.ok(1));`,
    "b.test.js": `import t from "tap";
      t.test("listens itself", async (t) => {
        const caught = new Promise((resolve) => process.once("uncaughtException", resolve));
        setTimeout(() => { throw new Error("wanted"); });
        t.match(await caught, { message: "wanted" });
      });`,
  });
  t.match(output, /a\.test\.js > throws > later/);
  t.match(output, /a\.test\.js > outer > rejects > lost/);
  t.equal(last, "2 passed, 2 failed, 0 skipped");
  t.equal(code, 1);
});

t.test("a file that does not load or asserts nothing fails", async (t) => {
  const { code, output, last } = await run(t, {
    "a.test.js": `import "./missing.js";`,
    "b.test.js": `console.log("nothing");`,
    "c.test.js": passes,
  });
  t.match(output, "missing.js");
  t.match(output, "b.test.js has no assertions");
  t.equal(last, "2 passed, 2 failed, 0 skipped");
  t.equal(code, 1);
});

t.test("a file that does not end is ended", async (t) => {
  const block = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;
  const files = { "a.test.js": block, "b.test.js": passes };
  const { code, output, last } = await run(t, files, 5_000);
  t.match(
    output,
    /a\.test\.js did not end within 5 s; no output for \d s; its event loop is blocked/,
  );
  t.equal(last, "2 passed, 1 failed, 0 skipped");
  t.equal(code, 1);
});

t.test(
  "of a file that does not end the runner says what it waits for",
  async (t) => {
    const waits = `import { spawn } from "node:child_process"; import { createServer } from "node:net"; import t from "tap";
    t.test("outer", async (t) => {
      t.test("has ended", async (t) => t.ok(1));
      t.test("waits for ever", async (t) => {
        createServer().listen(0, "127.0.0.1", function () { console.log("port", this.address().port); });
        console.log("child", spawn("sleep", ["60"]).pid);
        await new Promise(() => {});
      });
    });`;
    const files = { "a.test.js": waits, "b.test.js": passes };
    const { code, output, last } = await run(t, files, 5_000);
    t.match(
      output,
      /a\.test\.js did not end within 5 s; no output for \d s; it runs "[^"]*a\.test\.js > outer > waits for ever", with /,
    );
    const [, port] = /^port (\d+)$/m.exec(output)!;
    const [, pid] = /^child (\d+)$/m.exec(output)!;
    t.match(output, `tcp 127.0.0.1:${port}`);
    t.match(output, `process ${pid}`);
    t.match(output, "1 ProcessWrap");
    t.equal(last, "2 passed, 1 failed, 0 skipped");
    t.equal(code, 1);
  },
);

t.test("`// own process` runs a file in a process of its own", async (t) => {
  const marker = join(t.testdir(), "process-has-exited");
  const { last } = await run(t, {
    "a.test.js": `import { writeFileSync } from "node:fs"; globalThis.seen = 1;
      process.once("exit", () => writeFileSync(${JSON.stringify(marker)}, ""));\n${passes}`,
    "b.test.js": `// own process\nimport t from "tap"; t.equal(globalThis.seen, undefined);`,
  });
  t.equal(last, "3 passed, 0 failed, 0 skipped");
  t.ok(existsSync(marker), "exit handlers run, which delete temporary files");
});

t.test("an idle process takes files of another one", async (t) => {
  const marker = join(t.testdir(), "third-has-run");
  const { last } = await run(t, {
    "a.test.js": `import { existsSync } from "node:fs"; import t from "tap";
      t.test("waits for the third file", async (t) => {
        while (!existsSync(${JSON.stringify(marker)})) await new Promise((done) => setTimeout(done, 20));
        t.ok(1);
      });`,
    "b.test.js": passes,
    "c.test.js": `import { writeFileSync } from "node:fs"; import t from "tap";
      writeFileSync(${JSON.stringify(marker)}, ""); t.ok(1);`,
  });
  t.equal(last, "4 passed, 0 failed, 0 skipped");
});
