import t, { type Test } from "tap";
import {
  clientFile,
  missing,
  openHouse,
  PASSWORD,
  TEMPLATE,
  USER,
} from "./house.js";
import { runClient, type Ended } from "./run-client.js";

// These poll every few seconds. tap reads the limit of a file, in ms, from a comment.
t.comment("timeout=900000");
const LIMIT = { timeout: 900_000 };

/** A program of get-clients.sh against a house of its own. */
async function run(t: Test, program: string, ...args: string[]) {
  const { url, folder, template } = await openHouse(t);
  const env = {
    XOA_URL: url.replace(/^http/, "ws"),
    XOA_USER: USER,
    XOA_PASSWORD: PASSWORD,
    XOA_POOL: "C",
    XOA_STORAGE: "NFS 1",
    XOA_NETWORK: "Pool-wide network associated with eth0",
    XOA_TEMPLATE: TEMPLATE,
    XOA_TEMPLATE_ID: template,
    XOA_DISKLESS_TEMPLATE: "Other install media",
  };
  return runClient(clientFile("go", program), args, { cwd: folder, env });
}

/** Fails with what the program said of each job that failed. */
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
  "what the Terraform provider does reads back as it was written",
  { skip: missing("go", "terraform"), ...LIMIT },
  async (t) => {
    passed(t, await run(t, "terraform"), 7);
  },
);

t.test(
  "Kubernetes finds its nodes and gives them volumes",
  { skip: missing("go", "kubernetes"), ...LIMIT },
  async (t) => {
    passed(t, await run(t, "kubernetes"), 2);
  },
);

/** Lines of `go test -v`. */
const RESULT = /^\s*--- (PASS|FAIL|SKIP): (\S+)/gm;

/** @param leftOut a regular expression of tests, as `go test -skip` takes it */
async function acceptance(t: Test, program: string, leftOut: string) {
  const args = ["-test.v", "-test.timeout=800s", `-test.skip=${leftOut}`];
  const { stdout, stderr } = await run(t, program, ...args);
  const results = [...stdout.matchAll(RESULT)];
  const failed = results.filter(([, how]) => how === "FAIL");
  t.same(
    failed.map(([, , name]) => name),
    [],
    failed.length > 0 ? stdout.slice(-20_000) : "all passed",
  );
  t.ok(results.length > 20, `${results.length} ran; ${stderr.slice(-2000)}`);
}

t.test(
  "the Go SDK's acceptance tests, version 1",
  { skip: missing("go", "sdk-v1.test"), ...LIMIT },
  (t) => acceptance(t, "sdk-v1.test", "^$"),
);

t.test(
  "the Go SDK's acceptance tests, version 2",
  { skip: missing("go", "sdk-v2.test"), ...LIMIT },
  // Import makes its disks with qemu-img, which few machines have.
  (t) => acceptance(t, "sdk-v2.test", "^TestVDIImportExport$|^TestVDIExport$"),
);
