import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { clientFile, missing } from "../clients/testbed.js";
import { RunningProgram } from "../running-program.js";
import { runProgram } from "./run-program.js";

// A minute of requests. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 115_000 };
t.comment("timeout=120000");

const PROGRAM = ["schemathesis", "bin", "schemathesis"] as const;
const skip = missing(...PROGRAM);

const PASSWORD = "correct horse";
const LISTENING = /Web server listening on (http:\S+)/;

/** Ends what the requests are made with, or does not end. */
const LEFT_OUT =
  /\/auth\/logout$|\/events$|\/authentication_tokens\/\{token\}$/;

interface OpenApi {
  readonly paths: Record<string, Record<string, { security?: object[] }>>;
  readonly components: { securitySchemes: object };
  security: object[];
}

t.test(
  "no value of the OpenAPI document breaks the server",
  { ...LIMIT, skip },
  async (t) => {
    // Before the server starts: its working directory is created with it.
    const cwd = t.testdir({});
    const file = join(cwd, "openapi.json");
    const server = new RunningProgram(
      t,
      "xo-server",
      ["start", "--demo", "C", "--host", "127.0.0.1", "--port", "0"],
      { env: { XO_ADMIN_PASSWORD: PASSWORD } },
    );
    const url = await server.find(LISTENING);
    const rest = `${url}/rest/v0`;
    const answer = await fetch(`${rest}/docs/swagger.json`);
    writeFileSync(
      file,
      JSON.stringify(withBearer((await answer.json()) as OpenApi)),
    );
    const report = await runProgram(
      clientFile(...PROGRAM),
      [
        "run",
        file,
        "--url",
        rest,
        "--header",
        `Authorization: Bearer ${await createToken(rest)}`,
        "--checks",
        "not_a_server_error,content_type_conformance,response_schema_conformance",
        "--phases",
        "examples,fuzzing",
        "--max-examples",
        "5",
        "--max-time",
        "60",
        "--seed",
        "1",
        "--request-timeout",
        "30",
        "--no-color",
        "--continue-on-failure",
      ],
      // It writes examples to its working directory.
      { isAccepted: (code) => code <= 1, cwd },
    );
    t.same(failuresOf(report), []);
    t.equal(await server.stop(), 0);
    t.notMatch(server.output, / failed|TypeError/);
  },
);

/**
 * Refusals of XAPI have the status 500, as in Xen Orchestra, and so have runs of
 * jobs that stop or of which calls fail; everything else that schemathesis lists is a failure.
 */
function failuresOf(report: string): string[] {
  const [, ...failures] = report.split(/\d+\. Test Case ID: /);
  return failures.filter(
    (text) =>
      !/Server error/.test(text) ||
      !/an XO error|stopped at its start|\bjob .*: \d+ of \d+ failed: /.test(
        text,
      ),
  );
}

async function createToken(rest: string): Promise<string> {
  const basic = Buffer.from(`admin:${PASSWORD}`).toString("base64");
  const answer = await fetch(`${rest}/users/me/authentication_tokens`, {
    method: "POST",
    headers: {
      authorization: `Basic ${basic}`,
      "content-type": "application/json",
    },
    body: "{}",
  });
  return ((await answer.json()) as { token: { id: string } }).token.id;
}

/** One way to sign in: schemathesis would show several at once, which is refused. */
function withBearer(document: OpenApi): OpenApi {
  const security = [{ bearer: [] }];
  document.components.securitySchemes = {
    bearer: { type: "http", scheme: "bearer" },
  };
  document.security = security;
  for (const [path, operations] of Object.entries(document.paths))
    if (LEFT_OUT.test(path)) delete document.paths[path];
    else
      for (const operation of Object.values(operations))
        if ((operation.security?.length ?? 0) > 0)
          operation.security = security;
  return document;
}
