import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { clientFile, missing, startTestbed } from "./testbed.js";
import { runClient } from "./run-client.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=180000");

const AIOPS = ["python", "bin", "xcpng-aiops"] as const;
const skip = missing(...AIOPS);

t.test(
  "xcpng-aiops reads all it shows, and starts a VM",
  { skip },
  async (t) => {
    const { url, token, folder } = await startTestbed(t);
    writeFileSync(
      join(folder, "config.yaml"),
      JSON.stringify({ targets: [{ name: "testbed", url }] }),
    );
    const env = {
      XCPNG_AIOPS_HOME: folder,
      XCPNG_AIOPS_MASTER_PASSWORD: "made up here",
      NO_COLOR: "1",
    };
    const run = async (...args: string[]) => {
      const ended = await runClient(clientFile(...AIOPS), args, {
        cwd: folder,
        env,
      });
      t.equal(ended.code, 0, `${args.join(" ")}: ${ended.stderr}`);
      t.notMatch(ended.stdout + ended.stderr, /" [45]\d\d /, args.join(" "));
      return ended.stdout;
    };
    await run("secret", "set", "testbed", "--value", token);
    t.match(await run("doctor"), /Connected to 'testbed'/);
    t.match(await run("overview"), /pools/i);
    for (const args of [
      ["vm", "list"],
      ["vm", "health-rca"],
      ["host", "list"],
      ["pool", "list"],
      ["pool", "posture"],
      ["sr", "list"],
      ["sr", "usage-rca"],
      ["snapshot", "list"],
      ["backup", "jobs"],
      ["backup", "logs"],
      ["backup", "failure-rca"],
      ["task", "list"],
    ])
      t.match(await run(...args), /[{[]/, args.join(" "));

    const vms = await fetch(`${url}/rest/v0/vms?filter=power_state:halted`, {
      headers: { cookie: `authenticationToken=${token}` },
    });
    const [href] = (await vms.json()) as [string];
    const id = href.split("/").at(-1)!;
    await run("vm", "start", id);
    await run("snapshot", "create", id, "made by aiops");
  },
);
