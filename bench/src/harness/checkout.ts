import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "./repository.js";

/** Another commit of the repository, installed and built in a temporary folder. */
interface Checkout {
  readonly root: string;
  remove(): Promise<void>;
}

/**
 * Checks out a commit and runs `npm ci` in it, which takes a minute.
 * @param ref any name of a commit
 * @throws Error there is no such commit, or it cannot be built
 */
export async function checkOut(ref: string): Promise<Checkout> {
  const root = await mkdtemp(join(tmpdir(), "xo-bench-"));
  const remove = () => rm(root, { recursive: true, force: true });
  try {
    // Not a worktree, of which the repository would keep a note if this process is killed.
    await run("git", ["clone", "--shared", ".", root], repositoryRoot);
    await run("git", ["checkout", "--detach", await commitOf(ref)], root);
    await run("npm", ["ci", "--no-audit", "--no-fund"], root);
  } catch (error) {
    await remove();
    throw error;
  }
  return { root, remove };
}

/** A branch of the repository is unknown in its clone. */
async function commitOf(ref: string): Promise<string> {
  const name = ["rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`];
  return (await run("git", name, repositoryRoot)).trim();
}

/** @returns the output @throws Error it fails; the message contains the end of its output */
async function run(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<string> {
  const child = spawn(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-1_000);
    });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0)
    throw new Error(`${command} ${args.join(" ")} failed: ${output.trim()}`);
  return output;
}
