import t from "tap";
import { parseCommandLine } from "../src/commands/command-line.js";

const parse = (...args: string[]) => parseCommandLine(args, "1.2.3");

t.test("start accepts its options", async (t) => {
  t.match(
    parse(
      "start",
      "--config",
      "c.yaml",
      "--data",
      "d",
      "--host",
      "::1",
      "--port",
      "0",
      "--log-format",
      "json",
      "--log-level",
      "debug",
    ),
    {
      kind: "start",
      configPath: "c.yaml",
      demo: undefined,
      isNewStore: false,
      overrides: {
        dataDir: "d",
        host: "::1",
        port: 0,
        logFormat: "json",
        logLevel: "debug",
      },
    },
  );
});

t.test("the demo is A, B and C unless named", async (t) => {
  t.match(parse("start", "--demo"), { demo: ["A", "B", "C"] });
  t.match(parse("start", "--demo", "c,B"), { demo: ["C", "B"] });
  t.match(parse("start", "--demo", "--port", "1"), { demo: ["A", "B", "C"] });
  t.match(parse("start"), { demo: undefined });
});

t.test("version and help exit with 0", async (t) => {
  t.same(parse("--version"), { kind: "print", text: "1.2.3\n", code: 0 });
  for (const args of [["--help"], ["help"], ["start", "--help"]]) {
    const said = parse(...args);
    t.match(said, { kind: "print", code: 0 });
    t.match(said.kind === "print" && said.text, /Usage: xo-server/);
  }
});

t.test("an error is reported with its code", async (t) => {
  for (const [args, text] of [
    [["strat"], /unknown command 'strat'/],
    [["start", "--prot", "1"], /Did you mean --port/],
    [["start", "--port", "99999"], /number from 0 to 65535/],
    [["start", "--port", "http"], /number from 0 to 65535/],
    [["start", "--demo", "A B"], /list such as A,B,C/],
    [[], /Usage: xo-server/],
  ] as const) {
    const said = parse(...args);
    t.match(said, { kind: "print", code: 64 });
    t.match(said.kind === "print" && said.text, text);
  }
});
