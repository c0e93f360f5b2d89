import { setTimeout as pause } from "node:timers/promises";
import { pick, type Random } from "../faults/seeded-random.js";
import type { CutLink } from "./cut-link.js";
import type { GroupMember, ServerGroup } from "./server-group.js";

export const FAULTS = [
  "kill",
  "freeze",
  "database",
  "requests",
  "answers",
  "clock",
] as const;
export type ServerFault = (typeof FAULTS)[number];

/** Longer than a lease of 2 s: others take over meanwhile. */
const FROZEN_MS = 3_500;
const CUT_MS = 2_500;
/** A killed server is started again after up to this time: the others may take over meanwhile, or not. */
const DEAD_MS = 3_000;

/** One request in so many is sent to a server that may be killed or starting. */
const RARELY = 8;

/** Servers with the links to their pool; what happens to them is random. */
export class FailingServers {
  readonly #group: ServerGroup;
  readonly #links: readonly CutLink[];
  readonly #random: Random;
  readonly members: GroupMember[];
  /** Servers that have been started and do not listen yet, by index. */
  readonly #starting = new Map<number, Promise<void>>();
  /** Servers that have been killed and do not listen again yet. */
  readonly #down = new Set<number>();
  /** Number of servers that were killed before they listened. */
  killedStarts = 0;
  /** URL of a load balancer before them, for all requests. */
  balancer: string | undefined;
  /** Of the last request. */
  #last = 0;

  constructor(
    group: ServerGroup,
    members: readonly GroupMember[],
    links: readonly CutLink[],
    random: Random,
  ) {
    this.#group = group;
    this.members = [...members];
    this.#links = links;
    this.#random = random;
  }

  /**
   * Kills a server and starts it again, without waiting for it: it may be killed again
   * while it starts. Before, all servers but one listen, so that requests are accepted.
   */
  async killNext(): Promise<void> {
    while (this.#starting.size > 1) await Promise.race(this.#starting.values());
    const i = this.#chosen();
    if (this.#starting.delete(i)) this.killedStarts++;
    this.#down.add(i);
    await this.members[i]!.program.stop("SIGKILL");
    if (this.#random(2) === 0) await pause(this.#random(DEAD_MS));
    const program = await this.#group.launch(i);
    this.members[i] = { program, url: this.members[i]!.url };
    const listening = (async () => {
      const member = await this.#group.listening(program).catch((error) => {
        if (this.#starting.has(i)) throw error;
      });
      // Otherwise it has been killed since.
      if (member === undefined || this.members[i]!.program !== program) return;
      this.members[i] = member;
      this.#starting.delete(i);
      this.#down.delete(i);
    })();
    this.#starting.set(i, listening);
  }

  /** Resolves when all servers listen. */
  async untilStarted(): Promise<void> {
    await Promise.all(this.#starting.values());
  }

  /** Resolves when the fault has ended and everything works again. */
  async fail(fault: ServerFault): Promise<void> {
    const i = this.#chosen();
    const { child } = this.members[i]!.program;
    switch (fault) {
      case "kill":
        await this.members[i]!.program.stop("SIGKILL");
        if (this.#random(2) === 0) await pause(this.#random(DEAD_MS));
        this.members[i] = await this.#group.start(i);
        return;
      case "freeze":
        child.kill("SIGSTOP");
        await pause(FROZEN_MS);
        child.kill("SIGCONT");
        return;
      case "database":
        await this.#group.postgres.kill();
        await pause(this.#random(1_500));
        await this.#group.postgres.start();
        return;
      case "requests":
      case "answers":
        this.#links[i]!.cut(fault);
        await pause(CUT_MS);
        this.#links[i]!.repair({ closes: this.#random(2) === 0 });
        return;
      case "clock":
        child.kill("SIGUSR2");
    }
  }

  /** Often the server that has just started to act. */
  #chosen(): number {
    return this.#random(2) === 0
      ? this.#last
      : this.#random(this.members.length);
  }

  /** The URL of any server, now and then of one that does not answer now. */
  get anyUrl(): string {
    const all = [...this.members.keys()];
    const up = all.filter((i) => !this.#down.has(i));
    const isAny = up.length === 0 || this.#random(RARELY) === 0;
    this.#last = pick(this.#random, isAny ? all : up);
    if (this.balancer !== undefined) return this.balancer;
    return this.members[this.#last]!.url;
  }
}
