import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import type { Test } from "tap";

/** What the package depends on: after the bootstrap nothing is downloaded. */
const PACKAGES = "nodejs,systemd,init-system-helpers,ca-certificates";

/** A Debian installation in a folder, whose programs see only its files. Requires root. */
export class Chroot {
  readonly root: string;

  /** Downloads about 100 MB. @throws Error: the mirror is not reachable */
  static create(root: string): Chroot {
    const args = ["--variant=minbase", `--include=${PACKAGES}`, "trixie", root];
    execFileSync("debootstrap", args, { stdio: "pipe" });
    return new Chroot(root);
  }

  private constructor(root: string) {
    this.root = root;
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** Runs a program to its end. @returns what it prints @throws Error: it fails */
  run(program: string, ...args: readonly string[]): string {
    const [command, ...all] = this.#inside(program, args);
    return execFileSync(command!, all, { encoding: "utf8", stdio: "pipe" });
  }

  start(t: Test, program: string, ...args: readonly string[]): ChrootProgram {
    const [command, ...all] = this.#inside(program, args);
    return new ChrootProgram(t, spawn(command!, all));
  }

  #inside(program: string, args: readonly string[]): readonly string[] {
    const proc = `--mount-proc=${this.path("proc")}`;
    const spaces = ["unshare", "--pid", "--fork", "--kill-child", proc];
    const env = ["env", "-i", "HOME=/root", `PATH=${PATH}`];
    return [...spaces, ...env, "chroot", this.root, program, ...args];
  }
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A program that runs until it is killed. */
export class ChrootProgram {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #closed: Promise<unknown>;

  constructor(t: Test, child: ChildProcess) {
    this.#child = child;
    this.#closed = once(child, "close");
    for (const stream of [child.stdout!, child.stderr!])
      createInterface(stream).on("line", (line) => {
        this.#lines.push(line);
        child.emit("line");
      });
    t.teardown(() => this.kill());
  }

  /** @returns the first group of the first line that fits */
  async find(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.#lines.join("\n"));
      if (match !== null) return match[1]!;
      if (this.#child.exitCode !== null)
        throw new Error(`ended:\n${this.#lines.join("\n")}`);
      await Promise.race([once(this.#child, "line"), this.#closed]);
    }
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}
