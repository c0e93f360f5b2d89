import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { clientFile, missing, startTestbed } from "./testbed.js";
import { root } from "../running-program.js";
import { runClient, type Ended } from "./run-client.js";

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
    const check = (args: readonly string[], ended: Ended) => {
      t.equal(ended.code, 0, `${args.join(" ")}: ${ended.stderr}`);
      t.notMatch(ended.stdout + ended.stderr, /" [45]\d\d /, args.join(" "));
      return ended.stdout;
    };
    const store = ["secret", "set", "testbed", "--value", token];
    check(
      store,
      await runClient(clientFile(...AIOPS), store, { cwd: folder, env }),
    );
    const vms = await fetch(`${url}/rest/v0/vms?filter=power_state:halted`, {
      headers: { cookie: `authenticationToken=${token}` },
    });
    const [href] = (await vms.json()) as [string];
    const id = href.split("/").at(-1)!;
    const lists = [
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
    ];
    const commands = [
      ["doctor"],
      ["overview"],
      ...lists,
      ["vm", "start", id],
      ["snapshot", "create", id, "made by aiops"],
    ];
    const { stdout, stderr } = await runClient(
      clientFile("python", "bin", "python3"),
      [join(root, "test/clients/xcpng-aiops.py"), JSON.stringify(commands)],
      { cwd: folder, env },
    );
    t.match(stdout, /^\[/, stderr);
    const results = JSON.parse(stdout) as readonly Ended[];
    t.equal(results.length, commands.length);
    const outputs = new Map(
      commands.map((args, i) => [args, check(args, results[i]!)]),
    );
    t.match(outputs.get(commands[0]!), /Connected to 'testbed'/);
    t.match(outputs.get(commands[1]!), /pools/i);
    for (const args of lists)
      t.match(outputs.get(args), /[{[]/, args.join(" "));
  },
);
