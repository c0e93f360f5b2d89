import { fileURLToPath } from "node:url";
import t from "tap";
import {
  clientFile,
  missing,
  startTestbed,
  PASSWORD,
  USER,
} from "./testbed.js";
import { runClient } from "./run-client.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=120000");

const CLIENT = fileURLToPath(
  new URL("../../clients/xo-lib-client.js", import.meta.url),
);

const skip = missing("npm", "node_modules", "xo-lib");

t.test(
  "xo-lib signs in, lists, starts a VM and watches it",
  { skip },
  async (t) => {
    const { url, folder } = await startTestbed(t);
    const args = [CLIENT, clientFile("npm"), url, USER, PASSWORD];
    const { code, stdout, stderr } = await runClient(process.execPath, args, {
      cwd: folder,
    });
    t.equal(code, 0, stderr);
    const seen = JSON.parse(stdout) as { lines: number; vms: number };
    t.match(seen, {
      refused: { code: 3 },
      user: { email: USER, permission: "admin", groups: [], preferences: {} },
      isSameToken: true,
      started: true,
      twice: { code: 13, data: { expected: "halted", actual: "running" } },
      limited: 3,
      tagged: [true],
      unknown: { code: -32601 },
    });
    t.equal(seen.lines, seen.vms);
  },
);
