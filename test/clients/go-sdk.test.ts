import { spawnSync } from "node:child_process";
import t, { type Test } from "tap";
import {
  clientFile,
  missing,
  startTestbed,
  PASSWORD,
  TEMPLATE,
  USER,
  type Testbed,
} from "./testbed.js";
import { runClient, type Ended } from "./run-client.js";

// These poll every few seconds. The runner reads the limit of a file, in ms, from a comment, and its process has one of its own.
t.comment("timeout=900000");
t.setTimeout(900_000);
// They run in parallel, each with its own server, because they wait most of the time.
t.jobs = 4;
const LIMIT = { timeout: 900_000 };

/** How a program signs in. Each sign-in by password takes 50 to 500 ms of CPU time. */
type SignIn = "password" | "token";

/** Prepares servers and pools of its own for a program of get-clients.sh, which the returned function runs. */
async function prepareRuns(t: Test, program: string, signIn: SignIn) {
  const testbed = await startTestbed(t);
  const { url, folder, template, token } = testbed;
  const env = {
    XOA_URL: url.replace(/^http/, "ws"),
    ...(signIn === "token"
      ? { XOA_TOKEN: token }
      : { XOA_USER: USER, XOA_PASSWORD: PASSWORD }),
    XOA_POOL: "C",
    XOA_STORAGE: "NFS 1",
    XOA_NETWORK: "Pool-wide network associated with eth0",
    XOA_TEMPLATE: TEMPLATE,
    XOA_TEMPLATE_ID: template,
    XOA_DISKLESS_TEMPLATE: "Other install media",
  };
  const run = (...args: readonly string[]) =>
    runClient(clientFile("go", program), args, { cwd: folder, env });
  return { testbed, run };
}

/** Fails with the output of the program about each failed job. */
function passed(t: Test, { code, stdout, stderr }: Ended, jobs: number): void {
  const lines = stdout.split("\n");
  t.same(
    lines.filter((line) => line.startsWith("FAILED")),
    [],
  );
  t.equal(lines.filter((line) => line.startsWith("ok ")).length, jobs);
  t.equal(code, 0, stderr);
}

t.test(
  "resources of the Terraform provider read back as written",
  { skip: missing("go", "terraform"), ...LIMIT },
  async (t) => {
    const { run } = await prepareRuns(t, "terraform", "password");
    passed(t, await run(), 7);
  },
);

t.test(
  "Kubernetes detects its nodes and attaches volumes",
  { skip: missing("go", "kubernetes"), ...LIMIT },
  async (t) => {
    const { run } = await prepareRuns(t, "kubernetes", "password");
    passed(t, await run(), 2);
  },
);

/** Lines of `go test -v`. */
const RESULT = /^\s*--- (PASS|FAIL|SKIP): (\S+)/gm;

/** Version 1 finds it by its tag; the SDK itself cannot create it, as it sends no power state. */
async function makeGuest({ url, token, template }: Testbed): Promise<void> {
  const request = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/rest/v0${path}`, {
      method,
      headers: {
        cookie: `authenticationToken=${token}`,
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
  const [pool] = (await request("GET", "/pools?fields=id,default_SR")) as [
    { id: string; default_SR: string },
  ];
  const path = `/pools/${pool.id}/actions/create_vm?sync=true`;
  const disk = { name_label: "second", size: 2 ** 30, sr: pool.default_SR };
  const guest = { name_label: "guest", template, boot: true, vdis: [disk] };
  const { id } = (await request("POST", path, guest)) as { id: string };
  await request("PUT", `/vms/${id}/tags/xo-go-client-`);
}

/** Tests of the SDK that do not apply to this server: pattern of their names, and the reason. */
type NotApplicable = readonly (readonly [pattern: string, reason: string])[];

const NOT_APPLICABLE_V1: NotApplicable = [
  ["Acl$", "they give rights to a subject that does not exist: refused here"],
  [
    "^TestGetResourceSet$",
    "expects the `available` that it sent; the server computes it",
  ],
  [
    "^TestGetUser$|^TestCall_|^Test_",
    "they fail against any server, or without one",
  ],
];

const NOT_APPLICABLE_V2: NotApplicable =
  spawnSync("qemu-img", ["--version"]).status === 0
    ? []
    : [["^TestVDIImportExport$|^TestVDIExport$", "they need qemu-img"]];

interface Acceptance {
  /** Of get-clients.sh. */
  readonly program: string;
  readonly signIn: SignIn;
  readonly notApplicable: NotApplicable;
  readonly prepare?: (testbed: Testbed) => Promise<void>;
}

async function acceptance(
  t: Test,
  { program, signIn, notApplicable, prepare }: Acceptance,
) {
  // Each is reported as skipped, with its reason.
  for (const [pattern, reason] of notApplicable)
    await t.test(pattern, { skip: reason }, () => undefined);
  const { testbed, run } = await prepareRuns(t, program, signIn);
  await prepare?.(testbed);
  const names = (await run("-test.list=.")).stdout.match(/^Test\w+$/gm) ?? [];
  const applicable = names.filter((name) =>
    notApplicable.every(([pattern]) => !new RegExp(pattern).test(name)),
  );
  const { stdout, stderr } = await run(
    "-test.v",
    "-test.timeout=800s",
    `-test.run=^(${applicable.join("|")})$`,
  );
  const results = [...stdout.matchAll(RESULT)];
  const failed = results.filter(([, how]) => how === "FAIL");
  t.same(
    failed.map(([, , name]) => name),
    [],
    failed.length > 0 ? stdout.slice(-20_000) : "all passed",
  );
  t.ok(results.length > 10, `${results.length} ran; ${stderr.slice(-2000)}`);
}

t.test(
  "the Go SDK's acceptance tests, version 1",
  { skip: missing("go", "sdk-v1.test"), ...LIMIT },
  (t) =>
    acceptance(t, {
      program: "sdk-v1.test",
      signIn: "password",
      notApplicable: NOT_APPLICABLE_V1,
      prepare: makeGuest,
    }),
);

t.test(
  "the Go SDK's acceptance tests, version 2",
  { skip: missing("go", "sdk-v2.test"), ...LIMIT },
  (t) =>
    acceptance(t, {
      program: "sdk-v2.test",
      signIn: "token",
      notApplicable: NOT_APPLICABLE_V2,
    }),
);
